import { HOUR_MS } from '../../jobs/job-record.js';
import type { Slice } from '../slice.js';
import { REACTOR_EVENTS } from './events.js';
import { sweepOldFigures } from './figures/service.js';
import { reactorRoutes } from './routes.js';
import type { ReactorsOptions } from './service.js';
import { createReactors } from './service.js';
import { REACTOR_TABLES } from './tables.js';

export type { StoreOptions } from './definition/store.js';
export type { ReactorFigures } from './figures/figures.js';
export { createReactorFigures, writeReactorFigures } from './figures/figures.js';
export { createAnswerCode } from './run/answer-code.js';

export const reactors: Slice<ReactorsOptions> = {
  name: 'reactors',
  routes: (parts) => reactorRoutes(createReactors(parts)),
  events: Object.values(REACTOR_EVENTS),
  tables: REACTOR_TABLES,
  jobs: ({ database }) => [
    { name: 'reactor-figures', restMs: HOUR_MS, step: (nowMs) => sweepOldFigures(database, nowMs) },
  ],
};
