import { fileURLToPath } from 'node:url';
import { endWith, readOptions } from '@strongroom/test-servers/options.js';
import { compareTables } from './page/compare.js';
import { describeMachine, machineLine } from './page/machine.js';
import { publish } from './page/publish.js';
import type { Findings, Results } from './page/results.js';
import { NOTHING, readResults } from './page/results.js';
import { textTable } from './page/text-table.js';
import { PARTS } from './parts.js';
import { planOf } from './plan.js';
import { createWorkshop } from './workshop.js';

const HELP = `--only PART     one part alone, or several with commas between: ${Object.keys(PARTS).join(', ')}
--rounds N      from 1 to 99
--against PATH  another checkout, built, that "builds" and "builds-by-url" compare this one with
--path NAME     of that comparison one path alone, printed and not written
--compare FILE  raw results of an earlier run, printed beside those of this one
--quick         rough figures, printed and not written
--write         write them all the same
`;
/** `npm run bench`: measures every part, or those named by `--only`, and writes docs/benchmarks.md. */
const values = readOptions(
  {
    quick: { type: 'boolean' },
    write: { type: 'boolean' },
    only: { type: 'string' },
    rounds: { type: 'string' },
    against: { type: 'string' },
    path: { type: 'string' },
    compare: { type: 'string' },
  },
  HELP,
);
/** Differences of a few per cent take more rounds than others. */
const COMPARED = ['builds', 'builds-by-url'];
const COMPARED_ROUNDS = 9;
const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));
/** What the page was made of. It stays on the machine that measured it. */
const RAW_FILE = fileURLToPath(new URL('../results/latest.json', import.meta.url));
const isQuick = values.quick ?? false;
const isWritten = (!isQuick && values.path === undefined) || (values.write ?? false);
const names = chosen(values.only, values.against);
const plan = planOf(isQuick, roundsOf(values.rounds, names), values.against, values.path);
// Read before anything is measured: this run may write the very file.
const earlier = values.compare === undefined ? {} : await earlierResults(values.compare);
const machine = describeMachine();
const say = (line: string): void => void process.stdout.write(`${line}\n`);
let workshop = createWorkshop();
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void endBy(signal));

say(machineLine(machine));
const failed: string[] = [];
for (const name of names) {
  if (isEnding) break;
  const startedMs = performance.now();
  say(`\n== ${name}`);
  try {
    const findings = await measure(name);
    const seconds = (performance.now() - startedMs) / 1_000;
    if (findings.notRun !== undefined) {
      say(`  not run: ${findings.notRun}`);
      continue;
    }
    print(findings);
    for (const table of compareTables(earlier[name] ?? NOTHING, findings)) say(textTable(table).trimEnd());
    say(`\n${name} took ${seconds.toFixed(0)} s`);
    const result = { date: new Date().toISOString(), machine, rounds: plan.rounds, isQuick, seconds, ...findings };
    if (isWritten) await publish(DOCS, RAW_FILE, name, result);
  } catch (error) {
    if (isEnding) break;
    // One part that cannot be measured must not cost the figures of the others; the exit says that it was so.
    failed.push(name);
    process.stderr.write(`${name} is void: ${error instanceof Error ? error.stack : String(error)}\n`);
  } finally {
    await workshop.close();
    if (!isEnding) workshop = createWorkshop();
  }
}
say(failed.length === 0 ? '\nall parts measured' : `\nvoid: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

function measure(name: string): Promise<Findings> {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`there is no part named ${name}`);
  return part({ plan, workshop, say: (line) => say(`  ${line}`) });
}

function print({ tables, goals, notes }: Findings): void {
  for (const table of tables) say(textTable(table).trimEnd());
  for (const { what, wanted, measured, isMet } of goals) {
    say(`  ${isMet ? 'reached' : 'MISSED '}  ${what}: ${measured}, wanted ${wanted}`);
  }
  for (const note of notes) say(`  ${note}`);
}

function chosen(only: string | undefined, against: string | undefined): string[] {
  const wanted =
    only?.split(',') ?? Object.keys(PARTS).filter((name) => against !== undefined || !COMPARED.includes(name));
  const compared = COMPARED.find((name) => wanted.includes(name));
  if (compared !== undefined && against === undefined) endWith(`${compared} takes --against`);
  const unknown = wanted.filter((name) => PARTS[name] === undefined);
  if (unknown.length > 0)
    endWith(`No part is named ${unknown.join(', ')}. There are: ${Object.keys(PARTS).join(', ')}`);
  return wanted;
}

async function earlierResults(file: string): Promise<Results> {
  const results = await readResults(file);
  if (Object.keys(results).length === 0) endWith(`${file} has no results. Keep a copy of bench/results/latest.json.`);
  return results;
}

function roundsOf(text: string | undefined, chosenNames: readonly string[]): number | undefined {
  if (text === undefined)
    return chosenNames.every((name) => COMPARED.includes(name)) && !isQuick ? COMPARED_ROUNDS : undefined;
  if (!/^[1-9]\d?$/.test(text)) endWith('--rounds takes a number from 1 to 99');
  return Number(text);
}

async function endBy(signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
  // Ctrl-C at npm comes twice.
  if (isEnding) return;
  isEnding = true;
  process.stderr.write('\nremoving what was made\n');
  await workshop.close();
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
