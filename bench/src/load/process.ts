import { text } from 'node:stream/consumers';
import { sendInTurns } from './alternating.js';
import { load } from './closed.js';
import { openLoad } from './open.js';

/** Load comes from a process of its own: told what to send by its input, it prints what it measured. */
const given = JSON.parse(await text(process.stdin));
const result =
  'phases' in given ? await openLoad(given) : 'targets' in given ? await sendInTurns(given) : await load(given);
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
