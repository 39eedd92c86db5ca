import type { Slice } from '../slice.js';
import { LOG_EVENTS } from './events.js';
import { logRoutes } from './routes.js';
import type { LogsOptions } from './service.js';
import { createLogs } from './service.js';

export { LOG_EVENTS } from './events.js';
export { exportLogs } from './transfer/export.js';

/** Its table is the audit room's, which writes it. */
export const logs: Slice<LogsOptions> = {
  name: 'logs',
  routes: (parts) => logRoutes(createLogs(parts)),
  events: Object.values(LOG_EVENTS),
  tables: [],
};
