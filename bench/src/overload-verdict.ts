import type { Second } from './load/open.js';
import { median } from './statistics.js';

export interface Phase {
  readonly name: string;
  readonly offered: number;
  readonly ok: number;
  readonly refused: number;
  readonly unsent: number;
  /** In all, not a second. */
  readonly lost: number;
  readonly wrong: number;
}

export interface OverloadVerdict {
  readonly phases: readonly Phase[];
  /** Done a second in the middle of the overload. */
  readonly goodput: number;
  readonly memoryGrowth: number;
  readonly secondsToNormal: number;
  readonly wrong: number;
  readonly lagMs: number;
}

/** Answers count as before when they take at most twice as long as the worst second of the calm before. */
const NORMAL_TIMES = 2;
/** Connecting and compiling belong to the first second, not to the calm. */
const SETTLING_SECONDS = 1;

export function judgeOverload(
  seconds: readonly Second[],
  calmSeconds: number,
  overloadSeconds: number,
  memoryMb: readonly number[],
): OverloadVerdict {
  const end = calmSeconds + overloadSeconds;
  const calm = seconds.slice(SETTLING_SECONDS, calmSeconds);
  const overload = seconds.slice(calmSeconds, end);
  const after = seconds.slice(end);
  const memory = memoryMb.slice(calmSeconds, end);
  const third = Math.max(1, Math.floor(memory.length / 3));
  return {
    phases: [phaseOf('before', calm), phaseOf('overload', overload), phaseOf('after', after)],
    goodput: median(overload.map(({ ok }) => ok)),
    memoryGrowth: Math.max(0, ...memory.slice(-third)) / Math.max(1, ...memory.slice(0, third)),
    secondsToNormal: secondsToNormal(calm, after),
    wrong: seconds.reduce((sum, { wrong, lost }) => sum + wrong + lost, 0),
    lagMs: Math.max(0, ...seconds.map(({ lagMs }) => lagMs)),
  };
}

/** How long until a second is as before, and every one that follows. */
function secondsToNormal(calm: readonly Second[], after: readonly Second[]): number {
  const limitMs = NORMAL_TIMES * Math.max(...calm.map(({ okP99Ms }) => okP99Ms));
  const isNormal = (second: Second): boolean =>
    second.okP99Ms <= limitMs && second.refused === 0 && second.unsent === 0 && second.lost === 0;
  return after.findLastIndex((second) => second.offered > 0 && !isNormal(second)) + 1;
}

function phaseOf(name: string, seconds: readonly Second[]): Phase {
  const counted = seconds.filter(({ offered }) => offered > 0);
  const each = (field: keyof Second): number =>
    counted.reduce((sum, second) => sum + second[field], 0) / Math.max(1, counted.length);
  return {
    name,
    offered: each('offered'),
    ok: each('ok'),
    refused: each('refused'),
    unsent: each('unsent'),
    lost: each('lost') * counted.length,
    wrong: each('wrong') * counted.length,
  };
}
