import { checkEnd } from './check.js';
import type { Cluster } from './cluster.js';
import { startCluster } from './cluster.js';
import { seedOfRound } from './random.js';
import type { RoundResult } from './round.js';
import { runRound } from './round.js';
import type { Scenario } from './scenario.js';

export interface ScenarioRun {
  readonly seed: number;
  readonly count: number;
  readonly isLong: boolean;
  /**
   * One that runs already and goes on running afterwards, for scenarios that ask for nothing special. Whoever started it
   * makes the last checks.
   */
  readonly cluster?: Cluster;
  readonly onRound?: (result: RoundResult, round: number) => Promise<void> | void;
}

export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly rounds: readonly RoundResult[];
  /** What only showed at the end, or kept the scenario from running. */
  readonly violations: readonly string[];
}

/** One cluster for all rounds of a scenario at least: what an earlier round left behind is part of the next one. */
export async function runScenario(scenario: Scenario, run: ScenarioRun): Promise<ScenarioResult> {
  const rounds: RoundResult[] = [];
  const violations: string[] = [];
  const violate = (text: string): void => void violations.push(text);
  try {
    if (scenario.hasClusterPerRound && run.count > 1) return await runApart(scenario, run);
    const shared = scenario.cluster === undefined ? run.cluster : undefined;
    const options = typeof scenario.cluster === 'function' ? await scenario.cluster() : scenario.cluster;
    const cluster = shared ?? (await startCluster(options));
    try {
      await scenario.setUp?.(cluster);
      for (let round = 0; round < run.count; round += 1) {
        const result = await runRound(scenario, cluster, seedOfRound(run.seed, round), run.isLong);
        rounds.push(result);
        await run.onRound?.(result, round);
      }
      if (cluster !== shared) await checkEnd(cluster, violate);
      await scenario.tearDown?.(cluster);
    } finally {
      if (cluster !== shared) await cluster.stop();
    }
  } catch (error) {
    violate(`broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  return { scenario, rounds, violations };
}

/** Each round on a cluster of its own. */
async function runApart(scenario: Scenario, run: ScenarioRun): Promise<ScenarioResult> {
  const results: ScenarioResult[] = [];
  for (let n = 0; n < run.count; n += 1) {
    const onRound = (result: RoundResult) => run.onRound?.(result, n);
    results.push(await runScenario(scenario, { ...run, seed: seedOfRound(run.seed, n), count: 1, onRound }));
  }
  return {
    scenario,
    rounds: results.flatMap(({ rounds }) => rounds),
    violations: results.flatMap(({ violations }) => violations),
  };
}

export function hasPassed(result: ScenarioResult): boolean {
  return result.violations.length === 0 && result.rounds.every(({ violations }) => violations.length === 0);
}
