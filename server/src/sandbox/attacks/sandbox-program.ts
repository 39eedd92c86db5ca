import { systemClock } from '../../kernel/clock.js';
import { plainCode, plainInput } from '../run-fixture.js';
import { openSandbox } from '../sandbox.js';

/** A process with a sandbox whose code loops: for a test that kills it. Prints `busy` once the code runs. */
const sandbox = await openSandbox({
  instancesMax: 4,
  instancesPerTenantMax: 4,
  blanks: 1,
  aliases: {},
  clientNames: [],
  clock: systemClock,
  answer: async () => {
    process.stdout.write('busy\n');
    return { status: 200, headers: [], body: Buffer.alloc(0) };
  },
  onFault: (error) => process.stderr.write(`${String(error)}\n`),
});
const code = 'module.exports = async () => { await fetch("https://example.test/"); for (;;); };';
await sandbox.run(plainCode(code), plainInput, { deadlineMs: 600_000 });
