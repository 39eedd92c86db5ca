import type { Part } from './part.js';
import { fields } from './part-fields.js';

/** In the order they run. */
export const PARTS: readonly Part[] = [fields];
