import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endDescendants } from '@strongroom/test-servers/descendants.js';
import { endWith } from '@strongroom/test-servers/options.js';
import { PREPARED_DATA_VARIABLE } from '@strongroom/test-servers/prepared-data.js';
import { report, runProgram } from './checks.js';
import { runAsOrdinaryUser } from './ordinary-user.js';
import { missingPrograms } from './programs.js';
import type { TestResult, TestRun } from './run-tests.js';
import { runTests } from './run-tests.js';
import { describeSkipped } from './skipped.js';
import type { TestFile } from './test-files.js';
import { findTestFiles, groupFiles } from './test-files.js';

const HELP = `npm test [-- OPTIONS] [PART OF A PATH …]

Without a path: formatting, types, and the test files that start no program but the database of the run.
With paths: every test file whose path contains one of them.

--rest         the test files that the command above leaves out
--all          both
--attacks      random faults and hostile requests against a running product, in their short form
--needs NAME   only test files that need this program, such as chromium or engine
--repeat N     run the chosen files N times
`;
const { values, positionals } = readArguments();
const patterns = positionals.map((pattern) => pattern.replace(/^\.\//, ''));
const repeats = Number(values.repeat);
/** More than two cores, because tests also wait: for the database, for processes to start and end. */
const CONCURRENCY = 4;
/** Loading the product costs as much as several files; with more, the last group runs long after the others. */
const GROUP_FILES_MAX = { quick: 20, rest: 8 };
const SLOWEST_SHOWN = 12;
/** For the database of the run to stop and remove its folder. */
const DATABASE_STOP_MS = 5_000;

const startedMs = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'strongroom-tests-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
// Test files start servers, which would outlive a runner that is told to stop. Ctrl-C reaches npm and the runner, so the signal
// comes twice, and the second must not cut off what the first began.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    endDescendants(DATABASE_STOP_MS);
    process.exit(128 + constants.signals[signal]);
  });
}

const isRequired = process.env.TEST_PROGRAMS === 'required';
const isWhole = patterns.length === 0 && values.needs === undefined && !values.attacks;
let [passed, failed] = [0, 0];
if (isWhole && !values.rest) {
  // The build that made this program was the type check.
  report('ok  ', 'types');
  const isFormatted = await runProgram('formatting and lint', 'node_modules/.bin/biome', [
    'check',
    '--error-on-warnings',
    '.',
  ]);
  [passed, failed] = isFormatted ? [2, 0] : [1, 1];
}

const chosen = (await findTestFiles()).filter(isChosen);
if (chosen.length === 0) {
  process.stderr.write(
    `no test file matches ${process.argv.slice(2).join(' ')}; \`npm test -- --help\` says what can be chosen\n`,
  );
  process.exit(64);
}
const missing = new Map(chosen.map((file) => [file, missingPrograms(file.needs)]));
const runnable = chosen.filter((file) => isRequired || missing.get(file)?.length === 0);
const skippedFiles = chosen.filter((file) => !runnable.includes(file));
const groups = [
  ...groupFiles(runnable.filter(isRest), GROUP_FILES_MAX.rest),
  ...groupFiles(
    runnable.filter((file) => !isRest(file)),
    GROUP_FILES_MAX.quick,
  ),
];

const lists = values.all || values.rest || values.attacks;
const skipped: TestResult[] = [];
const [database] = await Promise.all([startDatabase(), runnable.some(isRest) && prepareData()]);
try {
  for (let round = 1; round <= repeats; round += 1) {
    const run = await runTests(groups, { folder: join(folder, String(round)), concurrency: CONCURRENCY });
    count([...(await withOrdinaryUser(run)).values()]);
    if (lists) reportSlowest(run);
    if (repeats > 1) report('====', `run ${round} of ${repeats}: ${passed} passed, ${failed} failed`);
  }
} finally {
  await database.stop();
}

process.stdout.write(
  describeSkipped({
    tests: skipped,
    files: skippedFiles.map((file) => ({ file, missing: missing.get(file) ?? [] })),
    lists,
  }),
);
process.stdout.write(`${Math.round((performance.now() - startedMs) / 1_000)} s\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function readArguments() {
  const options = {
    rest: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    attacks: { type: 'boolean', default: false },
    needs: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    const read = parseArgs({ options, allowPositionals: true });
    if (read.values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    if (!/^[1-9]\d*$/.test(read.values.repeat)) endWith('--repeat takes a number', HELP);
    return read;
  } catch (error) {
    endWith(error instanceof Error ? error.message : String(error), HELP);
  }
}

function isRest({ needs }: TestFile): boolean {
  return needs.length > 0;
}

function isChosen(file: TestFile): boolean {
  if (values.needs !== undefined && !file.needs.includes(values.needs)) return false;
  if (patterns.length > 0) return patterns.some((pattern) => file.source.includes(pattern));
  if (values.needs !== undefined) return true;
  if (values.attacks || file.isAttack) return values.attacks && file.isAttack;
  return values.all || isRest(file) === values.rest;
}

/** Starts the PostgreSQL server that all test files share. */
async function startDatabase(): Promise<{ stop(): Promise<void> }> {
  const child = spawn(process.execPath, ['server/dist/testing/serve-shared.js'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  process.env.TEST_POSTGRES = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()));
    child.once('exit', (code) => reject(new Error(`the test database did not start (exit ${code})`)));
  });
  return {
    async stop() {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

/** Makes the data folder that child servers get copies of. Without it each of them makes its own. */
async function prepareData(): Promise<void> {
  const dataDir = join(folder, 'prepared');
  const env = { PATH: process.env.PATH, STRONGROOM_DATA_DIR: dataDir };
  const child = spawn(process.execPath, ['server/dist/main.js', 'migrate'], { env, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('strongroom migrate failed on an empty data folder');
  process.env[PREPARED_DATA_VARIABLE] = dataDir;
}

/**
 * Results by file and name. Files whose results depend on the account run again without root's rights: a test that was skipped
 * as root counts as it ended there, and one that fails there has failed.
 */
async function withOrdinaryUser({ results }: TestRun): Promise<Map<string, TestResult>> {
  const merged = keyed(results);
  const files = runnable.filter(({ needs }) => needs.includes('account')).map(({ source }) => source);
  if (process.getuid?.() !== 0 || files.length === 0 || process.env.TEST_DATABASE === 'citus') return merged;
  const second = await runAsOrdinaryUser(files);
  if (second === undefined) {
    const why = 'not repeated as an ordinary user: that account cannot read this checkout or its temporary folder';
    report(isRequired ? 'FAIL' : '    ', why);
    if (isRequired) failed += 1;
  }
  for (const [key, result] of keyed(second?.results ?? [])) {
    const first = merged.get(key);
    if (first === undefined || first.outcome === 'skipped' || result.outcome === 'failed') merged.set(key, result);
  }
  return merged;
}

/** Maps results by file and name. Numbers tests that share a name, so that each of them is counted. */
function keyed(results: readonly TestResult[]): Map<string, TestResult> {
  const byKey = new Map<string, TestResult>();
  for (const result of results) {
    const name = `${result.file}: ${result.name}`;
    let key = name;
    for (let number = 2; byKey.has(key); number += 1) key = `${name} (${number})`;
    byKey.set(key, result);
  }
  return byKey;
}

function count(results: readonly TestResult[]): void {
  for (const result of results) {
    if (result.outcome === 'passed') passed += 1;
    else if (result.outcome === 'failed') failed += 1;
    else skipped.push(result);
  }
}

function reportSlowest({ secondsByFile }: TestRun): void {
  const slowest = [...secondsByFile].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
  for (const [file, seconds] of slowest) report('slow', `${seconds.toFixed(0)} s ${file}`);
}
