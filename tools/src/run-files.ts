import { runNodeTests } from './node-tests.js';

/** Runs the named test files and prints the tally as its last line. */
const tally = await runNodeTests(process.argv.slice(2), 1);
process.stdout.write(`\n${JSON.stringify(tally)}\n`);
