import type { Slice } from '../slice.js';
import { logStreamRoutes } from './routes.js';
import type { LogStreamsOptions } from './service.js';
import { createLogStreams } from './service.js';

/** The log as it grows, and as a file, for people. */
export const logStreams: Slice<LogStreamsOptions> = {
  name: 'log-streams',
  routes: (parts) => logStreamRoutes(createLogStreams(parts)),
  events: [],
  tables: [],
};
