import type { CodeUnderTest } from '../code-runs.js';
import { enginesOf, isGone, makeCode, react, tellOf, within } from '../code-runs.js';
import { signal } from '../processes.js';
import type { Round, Scenario, Undo } from '../scenario.js';

const SLOW =
  'module.exports = async ({ args }) => { await new Promise((done) => setTimeout(done, args.ms)); return { raw: args.ms }; };';
const LONG_MS = 20_000;
const SOON_MS = 10_000;
const RUNS = 4;
let code: CodeUnderTest;

const common = {
  needs: [],
  shortCount: 1,
  async setUp(cluster: Round['cluster']) {
    code = await makeCode(cluster, 0, SLOW);
  },
} as const;

/** Engines die in the middle of a run: their callers are told at once, and the next call has another one. */
export const engineKill: Scenario = {
  ...common,
  name: 'engine-kill',
  about: 'kill -9 of every engine of a node while code runs in them',
  longCount: 30,
  async inject(round): Promise<Undo> {
    const node = round.random.pick(round.cluster.nodes);
    const startedMs = performance.now();
    const runs = Array.from({ length: RUNS }, () => react(node, code, { ms: LONG_MS }));
    if (!(await within(SOON_MS, async () => (await enginesOf(node)).length >= RUNS))) round.violate('no engines');
    await round.pause(300, 1_000);
    const killed = await enginesOf(node);
    for (const pid of killed) signal(pid, 'SIGKILL');
    for (const ending of await Promise.all(runs)) {
      if (tellOf(ending) !== '500 reactor_error') round.violate(`a run whose engine died: ${tellOf(ending)}`);
    }
    if (performance.now() - startedMs > LONG_MS) round.violate('the death of an engine was told too late');
    return async () => {
      const next = await react(node, code, { ms: 1 });
      if (tellOf(next) !== '200') round.violate(`the next run: ${tellOf(next)}`);
    };
  },
};

/** The API dies in the middle of runs: its engines go with it, and nothing of them is left. */
export const apiKillDuringRuns: Scenario = {
  ...common,
  name: 'api-kill-during-runs',
  about: 'kill -9 of a node while code runs in its engines, started again',
  longCount: 30,
  async inject(round): Promise<Undo> {
    const victim = round.random.pick(round.cluster.nodes);
    const runs = Array.from({ length: RUNS }, () => react(victim, code, { ms: LONG_MS }));
    if (!(await within(SOON_MS, async () => (await enginesOf(victim)).length >= RUNS))) round.violate('no engines');
    const engines = await enginesOf(victim);
    await victim.end('SIGKILL');
    for (const pid of engines) {
      if (!(await within(SOON_MS, () => isGone(pid)))) round.violate(`engine ${pid} outlived its API`);
    }
    for (const ending of await Promise.all(runs)) {
      if (ending.kind === 'answered') round.violate(`a run of a dead node was answered: ${tellOf(ending)}`);
    }
    return async () => {
      await victim.start();
      const next = await react(victim, code, { ms: 1 });
      if (tellOf(next) !== '200') round.violate(`the next run: ${tellOf(next)}`);
    };
  },
};
