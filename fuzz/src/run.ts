import type { PartResult } from './driver.js';
import { driverOf } from './driver.js';
import { finalFaults } from './final-checks.js';
import type { NeighbourReport } from './neighbour.js';
import type { Part } from './part.js';
import { PARTS } from './parts.js';
import { generateKey, startProduct } from './product.js';
import { makeWorld } from './world.js';

export interface FuzzOptions {
  readonly seed: number;
  readonly isLong: boolean;
  /** The long form, with about so many requests instead. */
  readonly requests?: number | undefined;
  /** Only these parts, by name with commas between. */
  readonly only?: string | undefined;
  /** The first case, and how many; both for repeating a finding. */
  readonly from?: number | undefined;
  readonly count?: number | undefined;
  readonly print: (line: string) => void;
}

export interface FuzzResult {
  readonly seed: number;
  readonly parts: readonly PartResult[];
  /** Hostile ones; the neighbour's are not among them. */
  readonly requests: number;
  readonly neighbour: NeighbourReport;
  readonly seconds: number;
  readonly warmBytes: number;
  readonly endBytes: number;
  /** After as many cases again, where memory had grown by more than it may. */
  readonly laterBytes?: number | undefined;
  readonly findings: readonly string[];
}

/** What the long form promises at least, and what its numbers of cases come to. */
export const LONG_REQUESTS_MIN = 1_000_000;
const LONG_REQUESTS = 1_080_000;
/** Growth of the process over what it held after warming up. */
export const GROWTH_BYTES_MAX = 50 * 1_024 * 1_024;
/**
 * Buffers that came to their size, compiled code and what the allocator keeps are resident as well, and after few requests not all
 * of them are there. So growth has to go on: as many cases again must add this much.
 */
const FURTHER_GROWTH_BYTES_MAX = GROWTH_BYTES_MAX / 2;
/** Of each part's cases, before memory counts: every path has been compiled, every cache has its size. */
const WARM_UP_SHARE = 0.1;

export const SETTINGS = {
  STRONGROOM_RATE_LIMITS: 'off',
  STRONGROOM_SEARCH_TRIES_PER_DAY: '0',
  STRONGROOM_HEADER_PREFIXES: 'SVC,BT',
  // Whatever address a body names: nothing here leaves the machine.
  STRONGROOM_OUTBOUND_PUBLIC: 'refused',
};

/** From an empty folder to a verdict. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { seed, isLong, print } = options;
  const key = await generateKey();
  const product = await startProduct({ ...SETTINGS, STRONGROOM_BOOTSTRAP_API_KEY: key });
  try {
    const world = await makeWorld(product, key, seed);
    const drive = driverOf({ seed, product, world, print });
    const chosen = PARTS.filter(({ name }) => options.only === undefined || options.only.split(',').includes(name));
    const share = options.requests === undefined ? 1 : options.requests / LONG_REQUESTS;
    const casesOf = (part: Part): number => (isLong ? Math.ceil(part.cases.long * share) : part.cases.short);
    const isRepeat = options.from !== undefined || options.count !== undefined;
    const startedMs = performance.now();
    const beside = chosen.filter((part) => part.isBeside);
    const inTurn = chosen.filter((part) => !part.isBeside);
    const results: PartResult[] = [];
    const warmed = new Map<string, number>();
    const { neighbour } = world;
    neighbour.start();
    if (!isRepeat) {
      for (const part of inTurn) {
        const cases = Math.ceil(casesOf(part) * WARM_UP_SHARE);
        warmed.set(part.name, cases);
        results.push(await drive(part, 0, cases));
      }
    }
    await neighbour.stop();
    const warmBytes = await product.settledBytes();
    neighbour.start();
    const rangeOf = (part: Part): [number, number] => {
      const from = options.from ?? warmed.get(part.name) ?? 0;
      return [from, isRepeat ? (options.count ?? 1) : casesOf(part) - from];
    };
    const waiting = beside.map((part) => drive(part, ...rangeOf(part)));
    for (const part of inTurn) results.push(await drive(part, ...rangeOf(part)));
    results.push(...(await Promise.all(waiting)));
    await neighbour.stop();
    const endBytes = await product.settledBytes();
    const isDoubted = !isLong && !isRepeat && endBytes - warmBytes > GROWTH_BYTES_MAX;
    if (isDoubted) for (const part of inTurn) results.push(await drive(part, casesOf(part), casesOf(part)));
    const seconds = (performance.now() - startedMs) / 1_000;
    const laterBytes = isDoubted ? await product.settledBytes() : undefined;
    await neighbour.checkLog();
    const memory = { warmBytes, endBytes, laterBytes };
    const measured = { parts: merge(results), seconds, ...memory, neighbour: neighbour.report() };
    return verdictOf(options, measured, await finalFaults(product, world));
  } finally {
    await product.stop();
  }
}

function verdictOf(
  options: FuzzOptions,
  measured: Omit<FuzzResult, 'seed' | 'requests' | 'findings'>,
  atTheEnd: readonly string[],
): FuzzResult {
  const { parts, neighbour } = measured;
  const isRepeat = options.from !== undefined || options.count !== undefined;
  const isWhole = options.isLong && !isRepeat && options.only === undefined && options.requests === undefined;
  const requests = parts.reduce((sum, { requests: sent }) => sum + sent, 0);
  const findings = [
    ...parts.flatMap((part) => part.findings),
    // The short form shares its machine with other tests; the long one has it alone, and no excuse.
    ...(options.isLong ? parts.flatMap(({ late }) => late) : []),
    ...neighbour.disturbed,
    ...atTheEnd,
    ...(isWhole && requests < LONG_REQUESTS_MIN ? [`only ${requests} requests were sent`] : []),
    ...growthFindings(measured),
  ];
  return { ...measured, seed: options.seed, requests, findings };
}

/** One, where memory grew by more than it may and did not stop. */
export function growthFindings({
  warmBytes,
  endBytes,
  laterBytes,
}: Pick<FuzzResult, 'warmBytes' | 'endBytes' | 'laterBytes'>): string[] {
  const grown = endBytes - warmBytes;
  if (grown <= GROWTH_BYTES_MAX) return [];
  if (laterBytes === undefined) return [`memory grew by ${megabytes(grown)} MB`];
  const further = laterBytes - endBytes;
  if (further <= FURTHER_GROWTH_BYTES_MAX) return [];
  return [`memory grew by ${megabytes(grown)} MB, and by ${megabytes(further)} MB with as many cases again`];
}

export function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}

function merge(results: readonly PartResult[]): PartResult[] {
  const byName = new Map<string, PartResult>();
  for (const one of results) {
    const other = byName.get(one.name);
    byName.set(one.name, other === undefined ? one : added(other, one));
  }
  return [...byName.values()];
}

function added(a: PartResult, b: PartResult): PartResult {
  const statuses = new Map(a.statuses);
  for (const [status, times] of b.statuses) statuses.set(status, (statuses.get(status) ?? 0) + times);
  return {
    name: a.name,
    cases: a.cases + b.cases,
    requests: a.requests + b.requests,
    seconds: a.seconds + b.seconds,
    slowestMs: Math.max(a.slowestMs, b.slowestMs),
    statuses,
    findings: [...a.findings, ...b.findings],
    late: [...a.late, ...b.late],
  };
}
