import type { Database } from '../../../storage/database.js';
import type { DefinitionKind, DefinitionShape } from '../kind.js';
import type { MetricsBody } from '../schema.js';
import { definitionIdOf, noSuchDefinition } from '../store.js';
import { CALLS, COLD_STARTS, DURATION_PREFIX, dateOf, dayOf, ERROR_PREFIX } from './figure-names.js';
import type { RunFigures } from './figures.js';
import { percentileOf } from './histogram.js';
import type { FigureQueries, FigureRow } from './queries.js';

/** With today. */
export const DAYS_SHOWN = 30;
const LOOK_ROWS = 1_000;
const BATCH_ROWS = 500;

export interface FigureCalls {
  get(tenantId: string, id: string | undefined, nowMs: number): Promise<MetricsBody>;
}

export interface FigureCallsOptions<S extends DefinitionShape> {
  readonly database: Database;
  readonly kind: DefinitionKind<S>;
  readonly queries: FigureQueries;
  readonly figures: Pick<RunFigures, 'flush'>;
  /** What else is stored is not shown. */
  readonly failures: readonly string[];
}

export function createFigureCalls<S extends DefinitionShape>(options: FigureCallsOptions<S>): FigureCalls {
  const { database, kind, queries, figures, failures } = options;
  return {
    async get(tenantId, given, nowMs) {
      const id = definitionIdOf(kind, given);
      await figures.flush(tenantId, id);
      const today = dayOf(nowMs);
      const [isThere, rows] = await database.readAtOnce(tenantId, (tx) =>
        Promise.all([kind.rows.isThere(tx, id), queries.list(tx, id, today - DAYS_SHOWN + 1)]),
      );
      if (!isThere) throw noSuchDefinition(kind);
      return metricsOf(rows, today, failures);
    },
  };
}

/** Days without a call are shown too, so that nobody has to fill gaps; days that a clock ahead of ours counted for are not yet. */
function metricsOf(rows: readonly FigureRow[], today: number, failures: readonly string[]): MetricsBody {
  const shown = rows.filter(({ day }) => day <= today && day > today - DAYS_SHOWN);
  const byDay = new Map<number, FigureRow[]>();
  for (const row of shown) {
    const known = byDay.get(row.day);
    if (known) known.push(row);
    else byDay.set(row.day, [row]);
  }
  const days = Array.from({ length: DAYS_SHOWN }, (_, ago) => today - ago);
  return {
    total: sumOf(shown, failures),
    days: days.map((day) => ({ date: dateOf(day), ...sumOf(byDay.get(day) ?? [], failures) })),
  };
}

function sumOf(rows: readonly FigureRow[], failures: readonly string[]): MetricsBody['total'] {
  const sums = new Map<string, number>();
  const durations = new Map<number, number>();
  for (const { figure, count } of rows) {
    sums.set(figure, (sums.get(figure) ?? 0) + Number(count));
    if (!figure.startsWith(DURATION_PREFIX)) continue;
    const bucket = Number(figure.slice(DURATION_PREFIX.length));
    durations.set(bucket, (durations.get(bucket) ?? 0) + Number(count));
  }
  const errors: Record<string, number> = {};
  for (const name of failures) {
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
export async function sweepFigures(database: Database, queries: FigureQueries, nowMs: number): Promise<number> {
  const fromDay = dayOf(nowMs) - DAYS_SHOWN + 1;
  const tenants = await database.survey((tx) => queries.listTenantsWithOld(tx, fromDay, LOOK_ROWS));
  let removed = 0;
  for (const tenantId of tenants) {
    removed += await database.write(tenantId, (tx) => queries.deleteOld(tx, fromDay, BATCH_ROWS));
  }
  return removed;
}
