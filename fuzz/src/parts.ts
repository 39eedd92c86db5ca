import type { Part } from './part.js';
import { bodies } from './part-bodies.js';
import { bombs } from './part-bombs.js';
import { chains } from './part-chains.js';
import { cursors } from './part-cursors.js';
import { expressions } from './part-expressions.js';
import { fields } from './part-fields.js';
import { flood } from './part-flood.js';
import { forgeries } from './part-forgeries.js';
import { ids } from './part-ids.js';
import { oracles } from './part-oracles.js';
import { proxies } from './part-proxies.js';
import { queries } from './part-queries.js';
import { rawBytes } from './part-raw.js';
import { reactors } from './part-reactors.js';
import { slow } from './part-slow.js';
import { text } from './part-text.js';
import { tricks } from './part-tricks.js';

/** In the order they run. */
export const PARTS: readonly Part[] = [
  ...[fields, text, forgeries, tricks, rawBytes, bodies, bombs],
  ...[expressions, oracles, ids, queries, cursors],
  ...[chains, reactors, proxies, slow, flood],
];
