import type { Slice } from '../slice.js';
import { REPORT_EVENTS } from './events.js';
import { reportRoutes } from './routes.js';
import type { ReportsOptions } from './service.js';
import { createReports } from './service.js';

export { REPORT_EVENTS } from './events.js';
export { UsageReport } from './schema.js';
export type { ReportsOptions } from './service.js';
export { createReports } from './service.js';

/** It only reads: the vault counts. */
export const reports: Slice<ReportsOptions> = {
  name: 'reports',
  routes: (parts) => reportRoutes(createReports(parts)),
  events: Object.values(REPORT_EVENTS),
  tables: [],
};
