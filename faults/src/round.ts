import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { checkRound } from './check.js';
import type { Cluster } from './cluster.js';
import type { Journal } from './journal.js';
import { createJournal, outcomeOf } from './journal.js';
import type { LoadSize } from './load.js';
import { Load } from './load.js';
import { createRandom } from './random.js';
import { RECOVERY_MAX_MS, untilCalm } from './recovery.js';
import type { Round, Scenario } from './scenario.js';

export interface RoundResult {
  readonly seed: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly unknown: number;
  readonly recoveryMs: number;
  readonly violations: readonly string[];
  /** What every attempt did, one line each. */
  readonly journalFile: string;
}

/** The short form has a quarter of the operations, which its rounds spend most of their processor time on. */
const LOAD = {
  short: { workersPerTenant: 2, pauseMs: [40, 160] },
  long: { workersPerTenant: 3, pauseMs: [5, 40] },
} as const satisfies Record<string, LoadSize>;
const WARM_UP_MS = { short: [200, 600], long: [300, 1_500] } as const;
const CALM_MS = { short: 600, long: 2_000 };

/** Load, fault, end of the fault, calm, stop, checks: in this order, every choice by the seed. */
export async function runRound(
  scenario: Scenario,
  cluster: Cluster,
  seed: number,
  isLong: boolean,
): Promise<RoundResult> {
  const violations: string[] = [];
  const violate = (text: string): void => void violations.push(text);
  const random = createRandom(seed);
  // No choice depends on it: it only keeps rounds with the same seed on one cluster apart.
  const id = `f${seed.toString(36)}r${Date.now().toString(36)}`;
  const journalFile = join(cluster.folder, `${id}.jsonl`);
  const journal = createJournal(journalFile);
  const choices = random.fork('fault');
  const round: Round = {
    cluster,
    random: choices,
    journal,
    id,
    isLong,
    violate,
    pause: (minMs, maxMs) => wait(choices.between(minMs, maxMs)),
  };
  const load = new Load({
    ...(isLong ? LOAD.long : LOAD.short),
    ...scenario.load,
    cluster,
    random: random.fork('load'),
    journal,
    roundId: id,
    onWrong: violate,
  });
  let recoveryMs = 0;
  try {
    const [minMs, maxMs] = WARM_UP_MS[isLong ? 'long' : 'short'];
    await round.pause(minMs, maxMs);
    const undo = await scenario.inject(round);
    await undo();
    const faultEndMs = performance.now();
    const recovery = await untilCalm(journal, faultEndMs, isLong ? CALM_MS.long : CALM_MS.short);
    recoveryMs = recovery.tookMs;
    if (!recovery.isInTime) violate(`operations still failed ${Math.round(recoveryMs)} ms after the fault had ended`);
    await load.stop();
    await load.settle(RECOVERY_MAX_MS);
    await checkRound({ cluster, roundId: id, journal, entities: load.entities(), violate });
    await scenario.verify?.(round);
  } catch (error) {
    violate(`the round broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    await load.stop();
    load.close();
    await journal.close();
  }
  return { seed, ...countsOf(journal), recoveryMs, violations, journalFile };
}

function countsOf({ operations }: Journal): Pick<RoundResult, 'acknowledged' | 'refused' | 'unknown'> {
  const outcomes = operations.map(outcomeOf);
  const count = (wanted: string): number => outcomes.filter((outcome) => outcome === wanted).length;
  return { acknowledged: count('acknowledged'), refused: count('refused'), unknown: count('unknown') };
}
