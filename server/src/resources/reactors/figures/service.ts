import type { Database } from '../../../storage/database.js';
import type { FigureCalls } from '../../definitions/figures/figure-calls.js';
import { createFigureCalls, sweepFigures } from '../../definitions/figures/figure-calls.js';
import type { DayGrowth, RunFigures, RunFiguresOptions } from '../../definitions/figures/figures.js';
import { createRunFigures, writeRunFigures } from '../../definitions/figures/figures.js';
import { REACTOR_KIND } from '../definition/kind.js';
import { FAILURE_CLASSES } from '../run/failure-class.js';
import { REACTOR_FIGURES } from './queries.js';

export type ReactorFigures = RunFigures;

export const createReactorFigures = (options: RunFiguresOptions): ReactorFigures => createRunFigures(options);

export function writeReactorFigures(database: Pick<Database, 'write'>, growth: DayGrowth): Promise<void> {
  return writeRunFigures(database, REACTOR_FIGURES, growth);
}

export function createReactorFigureCalls(database: Database, figures: Pick<RunFigures, 'flush'>): FigureCalls {
  const queries = REACTOR_FIGURES;
  return createFigureCalls({ database, kind: REACTOR_KIND, queries, figures, failures: FAILURE_CLASSES });
}

/** Removes days that are shown no more, a bounded number of rows a call; returns how many went. */
export function sweepOldFigures(database: Database, nowMs: number): Promise<number> {
  return sweepFigures(database, REACTOR_FIGURES, nowMs);
}
