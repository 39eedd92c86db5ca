import { HOUR_MS, MINUTE_MS } from '../../jobs/job-record.js';
import type { Slice } from '../slice.js';
import { REACTOR_CACHE } from './cache.js';
import { REACTOR_EVENTS } from './events.js';
import { sweepOldFigures } from './figures/service.js';
import type { ReactorQueue, ReactorQueueOptions } from './queue/queue.js';
import { startReactorQueue } from './queue/queue.js';
import { sweepReactorRequests } from './queue/sweep.js';
import { reactorRoutes } from './routes.js';
import { createRunCode } from './run/run-code.js';
import type { ReactorsOptions } from './service.js';
import { createReactors } from './service.js';
import { REACTOR_TABLES } from './tables.js';

export { REACTOR_CACHE } from './cache.js';
export type { CurrentReactor } from './definition/current-reactor.js';
export type { StoreOptions } from './definition/store.js';
export type { ReactorFigures } from './figures/service.js';
export { createReactorFigures, writeReactorFigures } from './figures/service.js';
export type { ReactorQueue } from './queue/queue.js';
export { createAnswerCode } from './run/answer-code.js';
export { failureOfRun, runtimeError } from './run/failure.js';
export type { RunCode } from './run/run-code.js';
export { createRunCode } from './run/run-code.js';

export const reactors: Slice<ReactorsOptions> = {
  name: 'reactors',
  routes: (parts) => reactorRoutes(createReactors(parts)),
  events: Object.values(REACTOR_EVENTS),
  tables: REACTOR_TABLES,
  jobs: ({ database }) => [
    { name: 'reactor-figures', restMs: HOUR_MS, step: (nowMs) => sweepOldFigures(database, nowMs) },
    { name: 'reactor-requests', restMs: MINUTE_MS, step: (nowMs) => sweepReactorRequests(database, nowMs) },
  ],
  caches: [REACTOR_CACHE],
};

/** Runs the calls that were taken on, of the same parts as the routes. */
export function startRequests(
  parts: ReactorsOptions & Omit<ReactorQueueOptions, 'runCode' | 'onInvoked'>,
): ReactorQueue {
  return startReactorQueue({ ...parts, runCode: createRunCode(parts.sandbox), onInvoked: parts.reactorFigures.note });
}
