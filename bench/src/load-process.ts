import { text } from 'node:stream/consumers';
import { load } from './load.js';

/** Load comes from a process of its own: told what to send by its input, it prints what it measured. */
process.stdout.write(`${JSON.stringify(await load(JSON.parse(await text(process.stdin))))}\n`);
