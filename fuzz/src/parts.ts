import type { Part } from './part.js';
import { bombs } from './part-bombs.js';
import { chains } from './part-chains.js';
import { fields } from './part-fields.js';
import { flood } from './part-flood.js';
import { forgeries } from './part-forgeries.js';
import { rawBytes } from './part-raw.js';
import { slow } from './part-slow.js';
import { text } from './part-text.js';
import { tricks } from './part-tricks.js';

/** In the order they run. */
export const PARTS: readonly Part[] = [fields, text, forgeries, tricks, rawBytes, bombs, chains, slow, flood];
