import type { Part } from './part.js';
import { bombs } from './part-bombs.js';
import { fields } from './part-fields.js';
import { forgeries } from './part-forgeries.js';
import { rawBytes } from './part-raw.js';
import { text } from './part-text.js';
import { tricks } from './part-tricks.js';

/** In the order they run. */
export const PARTS: readonly Part[] = [fields, text, forgeries, tricks, rawBytes, bombs];
