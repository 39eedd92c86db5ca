import { copyFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { endWith, readOptions } from '@strongroom/test-servers/options.js';
import { checkEnd } from './check.js';
import type { Cluster } from './cluster.js';
import { startCluster } from './cluster.js';
import { missingParts } from './missing-parts.js';
import { markdownTable, plainTable } from './report.js';
import type { ScenarioResult } from './run-scenario.js';
import { hasPassed, runScenario } from './run-scenario.js';
import type { Scenario } from './scenario.js';
import { SCENARIOS } from './scenarios.js';

const HELP = `--long          the long form: hours, instead of minutes
--seed N        repeat the choices of an earlier run
--only NAME     this scenario; may be repeated
--count N       rounds of each scenario
--report FILE   write the result as a table
--keep FOLDER   keep the journals of violated rounds there
--list          every scenario with its rounds and what it does
`;
const values = readOptions(
  {
    long: { type: 'boolean', default: false },
    seed: { type: 'string' },
    only: { type: 'string', multiple: true },
    count: { type: 'string' },
    report: { type: 'string' },
    keep: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
  HELP,
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const seed = values.seed === undefined ? Math.floor(Math.random() * 0xffff_ffff) : Number(values.seed);
const isLong = values.long;
for (const name of ['seed', 'count'] as const) {
  if (!/^\d+$/.test(values[name] ?? '0')) endWith(`--${name} takes a number`);
}
const countOf = ({ shortCount, longCount }: Scenario): number =>
  values.count === undefined ? (isLong ? longCount : shortCount) : Number(values.count);

/** Runs one scenario and tells about each round while it goes. */
async function run(scenario: Scenario, cluster: Cluster | undefined): Promise<ScenarioResult> {
  const count = countOf(scenario);
  say(`${scenario.name}: ${scenario.about}; ${count} round(s)`);
  const result = await runScenario(scenario, {
    seed,
    count,
    isLong,
    ...(cluster && { cluster }),
    async onRound(round, n) {
      const { acknowledged, refused, unknown, recoveryMs, violations } = round;
      const figures = `${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown`;
      const verdict = violations.length === 0 ? 'ok' : 'VIOLATED';
      say(
        `  ${n + 1}/${count} seed ${round.seed}: ${figures}, recovered in ${(recoveryMs / 1_000).toFixed(1)} s: ${verdict}`,
      );
      if (violations.length === 0) return;
      for (const violation of violations.slice(0, SHOWN_MAX)) say(`    ${violation}`);
      if (violations.length > SHOWN_MAX) say(`    and ${violations.length - SHOWN_MAX} more`);
      say(`    again: npm run test:faults -- --only ${scenario.name} --seed ${round.seed} --count 1`);
      if (values.keep !== undefined)
        await copyFile(round.journalFile, `${values.keep}/${scenario.name}-${round.seed}.jsonl`);
    },
  });
  for (const violation of result.violations) say(`  at the end: ${violation}`);
  if (!hasPassed(result))
    say(`  again: npm run test:faults -- --only ${scenario.name} --seed ${seed} --count ${count}`);
  return result;
}

const SHOWN_MAX = 8;
const unknownNames = (values.only ?? []).filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
if (unknownNames.length > 0) {
  const names = SCENARIOS.map(({ name }) => name).join(', ');
  endWith(`There is no scenario named ${unknownNames.join(', ')}. There are: ${names}`);
}
if (values.list) {
  for (const { name, about, shortCount, longCount } of SCENARIOS)
    say(`${name} (${shortCount}, ${longCount}): ${about}`);
  process.exit(0);
}
// Kept, because Ctrl-C at npm comes twice, and the second must not cut off what the first began.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
say(`seed ${seed}`);
const results: ScenarioResult[] = [];
// The long form gives each scenario a cluster of its own, which grows old with it; the short one has no time for that.
const shared = isLong ? undefined : await startCluster();
for (const scenario of SCENARIOS.filter(({ name }) => values.only?.includes(name) ?? true)) {
  const missing = missingParts(scenario.needs);
  if (missing.length > 0) say(`${scenario.name}: not run, no ${missing.join(', ')} on this machine`);
  else if (countOf(scenario) === 0) say(`${scenario.name}: not run, it is for --long or a --count`);
  else results.push(await run(scenario, shared));
}
if (shared) {
  const violations: string[] = [];
  await checkEnd(shared, (text) => void violations.push(text)).finally(() => shared.stop());
  for (const violation of violations) say(`at the end: ${violation}`);
  const last = results.at(-1);
  if (last) results[results.length - 1] = { ...last, violations: [...last.violations, ...violations] };
}
say(`\n${plainTable(results)}\n`);
if (values.report !== undefined) {
  await writeFile(values.report, markdownTable(results, seed, new Date().toISOString().slice(0, 10)));
}
const failed = results.filter((result) => !hasPassed(result)).length;
say(`${results.length - failed} passed, ${failed} failed`);
// Nothing that ran is nothing that was proven.
process.exitCode = failed === 0 && results.length > 0 ? 0 : 1;
