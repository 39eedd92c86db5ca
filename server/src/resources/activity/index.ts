import { HOUR_MS } from '../../jobs/job-record.js';
import type { Slice } from '../slice.js';
import { sweepLogCounts } from './counts/sweep.js';
import { activityRoutes } from './routes.js';
import type { ActivityOptions } from './service.js';
import { createActivity } from './service.js';

/** What pages of the Portal show of a tenant as a whole. It only reads: what is counted is counted with each entry. */
export const activity: Slice<ActivityOptions> = {
  name: 'activity',
  routes: (parts) => activityRoutes(createActivity(parts)),
  events: [],
  tables: [],
  jobs: ({ database }) => [{ name: 'log-counts', restMs: HOUR_MS, step: (nowMs) => sweepLogCounts(database, nowMs) }],
};
