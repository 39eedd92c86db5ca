import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endWith, readOptions } from '@strongroom/test-servers/options.js';
import { report } from './checks.js';
import { NOBODY } from './ordinary-user.js';

/** Attacks on the sandbox: the tests of it, or with `--long` every probe several times in every mode the machine can make. */
const HELP = `--long          every mode, every probe several times in random order, full deadlines: an hour
--seed N        repeat the order of an earlier run
--rounds N      how often each probe is tried; 3
--instances N   how many instances are started and ended in each mode; 300
--only SUITE    tenant, native, bombs, instances or frames
`;
const PROGRAM = 'server/dist/sandbox/attacks/long-program.js';
const values = readOptions(
  {
    long: { type: 'boolean', default: false },
    seed: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    instances: { type: 'string', default: '300' },
    only: { type: 'string' },
  },
  HELP,
);
for (const name of ['seed', 'rounds', 'instances'] as const) {
  if (!/^\d+$/.test(values[name] ?? '0')) endWith(`--${name} takes a number`);
}

interface Row {
  readonly mode: string;
  readonly suite: string;
  readonly probes: number;
  readonly escapes: number;
}

async function shortForm(): Promise<number> {
  const tests = spawn(process.execPath, ['tools/dist/test.js', 'sandbox/attacks', 'sandbox/engine'], {
    stdio: 'inherit',
  });
  const [code] = await once(tests, 'close');
  return code ?? 1;
}

/** As this user, and where that is root also as one without its rights. Undefined where it broke off. */
async function runLong(args: readonly string[], uid?: number): Promise<readonly Row[] | undefined> {
  const env = { ...process.env, ...(uid !== undefined && { HOME: '/nonexistent' }) };
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
    ...(uid !== undefined && { uid, gid: uid }),
  });
  let last = '';
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      last = line;
      if (!line.startsWith('[')) process.stdout.write(`${line}\n`);
    }
  });
  const [code] = await once(child, 'close');
  return code === 0 && last.startsWith('[') ? JSON.parse(last) : undefined;
}

async function longForm(): Promise<number> {
  const seed = values.seed ?? String(Math.floor(Math.random() * 0xffff_ffff));
  const only = values.only === undefined ? [] : ['--only', values.only];
  const args = ['--seed', seed, '--rounds', values.rounds, '--instances', values.instances, ...only];
  report('====', `again: npm run test:sandbox -- --long ${args.join(' ')}`);
  const parts = [await runLong(args)];
  if (process.getuid?.() === 0) parts.push(await runLong(args, NOBODY));
  const rows = parts.flatMap((part) => part ?? []);
  const cell = (text: unknown, width: number): string => String(text).padEnd(width);
  for (const row of [{ mode: 'mode', suite: 'suite', probes: 'probes', escapes: 'escapes' }, ...rows]) {
    process.stdout.write(`${cell(row.mode, 22)}${cell(row.suite, 12)}${cell(row.probes, 8)}${row.escapes}\n`);
  }
  const escapes = rows.reduce((sum, row) => sum + row.escapes, 0);
  const broken = parts.filter((part) => part === undefined).length;
  if (broken > 0) report('FAIL', `${broken} part(s) broke off`);
  const probes = rows.reduce((sum, row) => sum + row.probes, 0);
  process.stdout.write(`${probes} probes, ${escapes} escapes, seed ${seed}\n`);
  return escapes === 0 && broken === 0 && probes > 0 ? 0 : 1;
}

process.exitCode = values.long ? await longForm() : await shortForm();
