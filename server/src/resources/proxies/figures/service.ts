import type { Database } from '../../../storage/database.js';
import type { FigureCalls } from '../../definitions/figures/figure-calls.js';
import { createFigureCalls, sweepFigures } from '../../definitions/figures/figure-calls.js';
import type { DayGrowth, RunFigures, RunFiguresOptions } from '../../definitions/figures/figures.js';
import { createRunFigures, writeRunFigures } from '../../definitions/figures/figures.js';
import { PROXY_KIND } from '../definition/kind.js';
import { PROXY_FAILURE_CLASSES } from './failure-class.js';
import { PROXY_FIGURES } from './queries.js';

export type ProxyFigures = RunFigures;

export const createProxyFigures = (options: RunFiguresOptions): ProxyFigures => createRunFigures(options);

export function writeProxyFigures(database: Pick<Database, 'write'>, growth: DayGrowth): Promise<void> {
  return writeRunFigures(database, PROXY_FIGURES, growth);
}

export function createProxyFigureCalls(database: Database, figures: Pick<RunFigures, 'flush'>): FigureCalls {
  const queries = PROXY_FIGURES;
  return createFigureCalls({ database, kind: PROXY_KIND, queries, figures, failures: PROXY_FAILURE_CLASSES });
}

/** Removes days that are shown no more, a bounded number of rows a call; returns how many went. */
export function sweepProxyFigures(database: Database, nowMs: number): Promise<number> {
  return sweepFigures(database, PROXY_FIGURES, nowMs);
}
