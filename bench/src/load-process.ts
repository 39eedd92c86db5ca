import { load } from './load.js';

/** Load comes from a process of its own: told what to send by its arguments, it prints what it measured. */
const [options = '{}'] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(await load(JSON.parse(options)))}\n`);
