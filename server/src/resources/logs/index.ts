import type { Slice } from '../slice.js';
import { LOG_EVENTS } from './events.js';
import { logRoutes } from './routes.js';
import type { LogsOptions } from './service.js';
import { createLogs } from './service.js';

export { LOG_EVENTS } from './events.js';
export type { LogFilter } from './filters/filter.js';
export { passesFilter, startOfMonth } from './filters/filter.js';
export type { LogRow } from './queries.js';
export { countNewestByBucket } from './queries.js';
export { LogBody, LogFilterParameters } from './schema.js';
export { bodyOf as logBodyOf, isNobody, logFilterOf } from './service.js';
export type { TailedRow } from './tail/since-queries.js';
export { listLogsSince, takeSnapshot } from './tail/since-queries.js';
export { exportLogs } from './transfer/export.js';
export { exportPages } from './transfer/export-pages.js';

/** Its table is the audit room's, which writes it. */
export const logs: Slice<LogsOptions> = {
  name: 'logs',
  routes: (parts) => logRoutes(createLogs(parts)),
  events: Object.values(LOG_EVENTS),
  tables: [],
};
