import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { endDescendants } from '@strongroom/test-servers/descendants.js';
import { writeBatches } from './batches.js';
import type { Tally } from './checks.js';
import { add, report, runProgram } from './checks.js';
import { globFiles } from './files.js';
import { runNodeTests } from './node-tests.js';
import { runAsOrdinaryUser } from './ordinary-user.js';

/** Two more than two cores, because tests also wait: for servers to start, for processes to end. */
const CONCURRENCY = 4;
const SLOWEST_SHOWN = 12;
/** For the database of the run to stop and remove its folder. */
const SHARED_STOP_MS = 5_000;

/** Minutes of attacks on a whole installation, for the gate and for `npm run test:attacks`. */
const ATTACKS = /(faults|fuzz)\/dist\/short\.test\.js$/;

/** Only test files whose path contains one of these; all without any. */
const patterns = process.argv.slice(2);
const isWhole = patterns.length === 0;
const total: Tally = { passed: 0, failed: 0, notRun: [] };
const startedMs = performance.now();

if (isWhole) {
  // The build that made this very program was the type check; had it failed, nothing would run.
  report('ok  ', 'types');
  total.passed += 1;
  add(total, await runProgram('lint', 'node_modules/.bin/biome', ['check', '--error-on-warnings', '.']));
}

// The test files start servers of their own, which would outlive a runner that is told to stop. Ctrl-C at npm comes twice,
// and the second must not cut off what the first began.
const batchFolder = mkdtempSync(join(tmpdir(), 'strongroom-tests-'));
const removeBatches = (): void => rmSync(batchFolder, { recursive: true, force: true });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    endDescendants(SHARED_STOP_MS);
    removeBatches();
    process.exit(128 + constants.signals[signal]);
  });
}

const shared = spawn(process.execPath, ['server/dist/testing/serve-shared.js'], { stdio: ['pipe', 'pipe', 'inherit'] });
process.env.TEST_POSTGRES = await new Promise<string>((resolve, reject) => {
  shared.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()));
  shared.once('exit', (code) => reject(new Error(`the test database did not start (exit ${code})`)));
});
try {
  const files = await globFiles(
    [
      'server/dist',
      'tools/dist',
      'acceptance/dist',
      'faults/dist',
      'fuzz/dist',
      'bench/dist',
      'engine/dist',
      'portal/dist',
      'test-servers/dist',
    ],
    '.test.js',
  );
  const chosen = files.filter((file) =>
    isWhole ? !ATTACKS.test(file) : patterns.some((pattern) => file.includes(pattern)),
  );
  const ran = await runNodeTests(await writeBatches(batchFolder, chosen), CONCURRENCY);
  add(total, ran);
  if (isWhole) reportSlowest(ran);
} finally {
  removeBatches();
  shared.stdin.end();
  await new Promise((resolve) => shared.once('exit', resolve));
}

/** So that whoever makes the run longer sees it. */
function reportSlowest({ secondsByFile = new Map() }: Tally): void {
  const slowest = [...secondsByFile].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
  for (const [file, seconds] of slowest) report('slow', `${seconds.toFixed(0)} s ${relative('.', file)}`);
}

await runAsOrdinaryUser(total);
for (const { file, name, reason } of total.notRun) report('not run', `${relative('.', file)}: ${name} (${reason})`);
process.stdout.write(`${Math.round((performance.now() - startedMs) / 1_000)} s\n`);
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
