import { systemClock } from '../../kernel/clock.js';
import { plainCode, plainInput } from '../run-fixture.js';
import { openSandbox } from '../sandbox.js';

/** Opens a sandbox, runs code in it once and prints what came of both: for tests that start it where less is allowed. */
const sandbox = await openSandbox({
  instancesMax: 1,
  instancesPerTenantMax: 1,
  blanks: 0,
  aliases: {},
  clientNames: [],
  clock: systemClock,
  answer: () => Promise.reject(new Error('nobody answers')),
  onFault: (error) => process.stderr.write(`${String(error)}: ${String((error as Error).cause ?? '')}\n`),
});
const outcome = await sandbox
  .run(plainCode('module.exports = async () => 7;'), plainInput, { deadlineMs: 60_000 })
  .then((run) => run.outcome)
  .catch((error: Error) => ({ outcome: error.constructor.name }));
process.stdout.write(JSON.stringify({ state: sandbox.state(), outcome }));
await sandbox.close();
