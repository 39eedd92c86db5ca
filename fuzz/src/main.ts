import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { endWith, readOptions } from '@strongroom/test-servers/options.js';
import { PARTS } from './parts.js';
import { neighbourLine, reportOf } from './report.js';
import { megabytes, runFuzz } from './run.js';

const HELP = `--long          at least 1,000,000 requests, instead of about 12,000
--requests N    the long form with about N requests
--seed N        repeat the choices of an earlier run
--only PART     one part alone, or several with commas between
--from K        the first case of each part; with --count 1 repeats one case
--count C       how many cases
--report FILE   write the result as a table
`;
/** `npm run test:fuzz`: the short form; `-- --long` for all of it, `-- --help` for the rest. */
const values = readOptions(
  {
    long: { type: 'boolean' },
    requests: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    from: { type: 'string' },
    count: { type: 'string' },
    report: { type: 'string' },
  },
  HELP,
);
const SEEDS = 1_000_000_000;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

// Kept, because Ctrl-C at npm comes twice, and the second must not cut off what the first began.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
const wrong = (['requests', 'seed', 'from', 'count'] as const).find((name) => !/^\d+$/.test(values[name] ?? '0'));
if (wrong !== undefined) endWith(`--${wrong} takes a number`);
const names = PARTS.map(({ name }) => name);
const unknown = (values.only?.split(',') ?? []).filter((name) => !names.includes(name));
if (unknown.length > 0) endWith(`There is no part named ${unknown.join(', ')}. There are: ${names.join(', ')}`);
await run();

async function run(): Promise<void> {
  const seed = values.seed === undefined ? randomInt(SEEDS) : Number(values.seed);
  print(`seed ${seed}`);
  const result = await runFuzz({
    seed,
    isLong: values.long === true || values.requests !== undefined,
    requests: values.requests === undefined ? undefined : Number(values.requests),
    only: values.only,
    from: values.from === undefined ? undefined : Number(values.from),
    count: values.count === undefined ? undefined : Number(values.count),
    print,
  });
  const { requests, seconds, warmBytes, endBytes, laterBytes, findings } = result;
  const rate = Math.round(requests / seconds);
  print(`total: ${requests} hostile requests in ${seconds.toFixed(0)} s, ${rate} a second`);
  print(neighbourLine(result.neighbour));
  print(`memory ${megabytes(warmBytes)} MB after warm-up, ${megabytes(endBytes)} MB at the end`);
  if (laterBytes !== undefined) print(`memory ${megabytes(laterBytes)} MB after as many cases again`);
  for (const finding of findings) print(`FOUND ${finding}`);
  if (values.report !== undefined) await writeFile(values.report, reportOf(result, new Date()));
  print(`seed ${seed}: ${findings.length} findings`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
