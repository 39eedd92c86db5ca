import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { createCursors } from '../../server/dist/http/paging/cursor.js';
import { insideProduct } from './inside.js';
import type { SealOptions } from './log-pages.js';

/** Prints the cursor of a place that following cursors would take ten thousand requests to reach. */
const { tenantId, filters, atMs }: SealOptions = JSON.parse(await text(process.stdin));
const cursor = await insideProduct(async ({ keyStore }) =>
  createCursors(keyStore.systemKeys.cursorMac).seal({ list: 'logs', tenantId, filters }, { atMs, id: randomUUID() }),
);
process.stdout.write(`${JSON.stringify({ cursor })}\n`);
