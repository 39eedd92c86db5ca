import { MINUTE_MS } from '../../jobs/job-record.js';
import type { Slice } from '../slice.js';
import { SESSION_EVENTS } from './events.js';
import { sweepSessions } from './expiry/sweep.js';
import { sessionRoutes } from './routes.js';
import type { SessionsOptions } from './service.js';
import { createSessions } from './service.js';
import { SESSION_TABLES } from './tables.js';

export const sessions: Slice<SessionsOptions> = {
  name: 'sessions',
  routes: (parts) => sessionRoutes(createSessions(parts)),
  events: Object.values(SESSION_EVENTS),
  tables: SESSION_TABLES,
  jobs: ({ database }) => [
    { name: 'session-expiry', restMs: MINUTE_MS, step: (nowMs) => sweepSessions(database, nowMs) },
  ],
};
