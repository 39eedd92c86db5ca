import type { Database } from '../../../storage/database.js';
import { noSuchReactor, reactorIdOf } from '../definition/store.js';
import { isReactor } from '../queries.js';
import type { FailureClass } from '../run/failure-class.js';
import { FAILURE_CLASSES } from '../run/failure-class.js';
import type { ReactorFiguresBody, ReactorMetricsBody } from '../schema.js';
import { CALLS, COLD_STARTS, DURATION_PREFIX, dateOf, dayOf, ERROR_PREFIX } from './figure-names.js';
import type { ReactorFigures } from './figures.js';
import { percentileOf } from './histogram.js';
import type { FigureRow } from './queries.js';
import { deleteOldFigures, listReactorFigures, listTenantsWithOldFigures } from './queries.js';

/** With today. */
export const DAYS_SHOWN = 30;
const LOOK_ROWS = 1_000;
const BATCH_ROWS = 500;

export interface FigureCalls {
  get(tenantId: string, id: string | undefined, nowMs: number): Promise<ReactorMetricsBody>;
}

export function createFigureCalls(database: Database, figures: Pick<ReactorFigures, 'flush'>): FigureCalls {
  return {
    async get(tenantId, given, nowMs) {
      const id = reactorIdOf(given);
      await figures.flush(tenantId, id);
      const today = dayOf(nowMs);
      const [isThere, rows] = await database.readAtOnce(tenantId, (tx) =>
        Promise.all([isReactor(tx, id), listReactorFigures(tx, id, today - DAYS_SHOWN + 1)]),
      );
      if (!isThere) throw noSuchReactor();
      return metricsOf(rows, today);
    },
  };
}

/** Days without a call are shown too, so that nobody has to fill gaps; days that a clock ahead of ours counted for are not yet. */
export function metricsOf(rows: readonly FigureRow[], today: number): ReactorMetricsBody {
  const shown = rows.filter(({ day }) => day <= today && day > today - DAYS_SHOWN);
  const byDay = new Map<number, FigureRow[]>();
  for (const row of shown) {
    const known = byDay.get(row.day);
    if (known) known.push(row);
    else byDay.set(row.day, [row]);
  }
  const days = Array.from({ length: DAYS_SHOWN }, (_, ago) => today - ago);
  return {
    total: sumOf(shown),
    days: days.map((day) => ({ date: dateOf(day), ...sumOf(byDay.get(day) ?? []) })),
  };
}

function sumOf(rows: readonly FigureRow[]): ReactorFiguresBody {
  const sums = new Map<string, number>();
  const durations = new Map<number, number>();
  for (const { figure, count } of rows) {
    sums.set(figure, (sums.get(figure) ?? 0) + Number(count));
    if (!figure.startsWith(DURATION_PREFIX)) continue;
    const bucket = Number(figure.slice(DURATION_PREFIX.length));
    durations.set(bucket, (durations.get(bucket) ?? 0) + Number(count));
  }
  const errors: Partial<Record<FailureClass, number>> = {};
  for (const name of FAILURE_CLASSES) {
    const count = sums.get(`${ERROR_PREFIX}${name}`);
    if (count !== undefined) errors[name] = count;
  }
  const [p50, p99] = [percentileOf(durations, 0.5), percentileOf(durations, 0.99)];
  return {
    calls: sums.get(CALLS) ?? 0,
    errors,
    cold_starts: sums.get(COLD_STARTS) ?? 0,
    ...(p50 !== undefined && { p50_ms: p50 }),
    ...(p99 !== undefined && { p99_ms: p99 }),
  };
}

/** Removes days that are shown no more, a bounded number of rows a call; returns how many went. */
export async function sweepOldFigures(database: Database, nowMs: number): Promise<number> {
  const fromDay = dayOf(nowMs) - DAYS_SHOWN + 1;
  const tenants = await database.lookUp((tx) => listTenantsWithOldFigures(tx, fromDay, LOOK_ROWS));
  let removed = 0;
  for (const tenantId of tenants) {
    removed += await database.write(tenantId, (tx) => deleteOldFigures(tx, fromDay, BATCH_ROWS));
  }
  return removed;
}
