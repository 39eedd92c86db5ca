import { readFile } from 'node:fs/promises';
import { isPostgres, readProcesses, treeOf } from './process-tree.js';

/** Whose processor time and memory a measurement is about. */
export interface Watched {
  /** Everything below this process that is not PostgreSQL is the API. */
  readonly api: number | undefined;
  /** Everything below this process that is PostgreSQL is the database. */
  readonly database: number | undefined;
}

export interface Cost {
  readonly apiSeconds: number;
  readonly databaseSeconds: number;
  /** Most resident memory of the API processes together that was seen. */
  readonly rssMb: number;
}

/** What Linux counts processor time in, on every machine Node runs on. */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 200;
const KIB_PER_MB = 1_024;

/** Runs the work and says what it cost the processes it was done by. */
export async function costOf<T>(watched: Watched, work: () => Promise<T>): Promise<{ result: T; cost: Cost }> {
  const before = await ticksOf(watched);
  let rssMb = 0;
  const look = async (): Promise<void> => {
    rssMb = Math.max(rssMb, await residentMb(before.pids));
  };
  const timer = setInterval(() => void look(), SAMPLE_MS);
  try {
    const result = await work();
    await look();
    const after = await ticksOf(watched);
    const apiSeconds = (after.api - before.api) / TICKS_PER_SECOND;
    const databaseSeconds = (after.database - before.database) / TICKS_PER_SECOND;
    return { result, cost: { apiSeconds, databaseSeconds, rssMb } };
  } finally {
    clearInterval(timer);
  }
}

/**
 * What the work cost those processes of each product that were there before and after it, in seconds. Whatever comes and
 * goes in between is left out: on a database that is autovacuum, whose turn is chance and larger than the difference
 * between two builds.
 */
export async function lastingCostOf(
  products: readonly Watched[],
  work: () => Promise<void>,
): Promise<{ readonly apiSeconds: number; readonly databaseSeconds: number }[]> {
  const before = await readProcesses();
  await work();
  const after = await readProcesses();
  const earlier = new Map(before.map(({ pid, ownTicks }) => [pid, ownTicks]));
  const spent = (rows: typeof after): number =>
    rows.reduce((sum, { pid, ownTicks }) => sum + ownTicks - (earlier.get(pid) ?? ownTicks), 0) / TICKS_PER_SECOND;
  return products.map(({ api = 0, database = 0 }) => ({
    apiSeconds: spent(treeOf(after, api).filter((row) => !isPostgres(row))),
    databaseSeconds: spent(treeOf(after, database).filter(isPostgres)),
  }));
}

/** The processes of the API below this one. */
export async function apiPids(root: number): Promise<number[]> {
  return treeOf(await readProcesses(), root)
    .filter((row) => row.name === 'node' || row.name === 'MainThread')
    .map(({ pid }) => pid);
}

/** Resident memory of these processes together. */
export async function residentMb(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / KIB_PER_MB;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function ticksOf({ api, database }: Watched): Promise<{ api: number; database: number; pids: number[] }> {
  const rows = await readProcesses();
  const ours = api === undefined ? [] : treeOf(rows, api).filter((row) => !isPostgres(row));
  const theirs = database === undefined ? [] : treeOf(rows, database).filter(isPostgres);
  const sum = (chosen: typeof rows): number => chosen.reduce((total, { ticks }) => total + ticks, 0);
  // The parent of PostgreSQL is charged for it when it ends, which is after the measurement.
  return { api: sum(ours), database: sum(theirs), pids: ours.map(({ pid }) => pid) };
}
