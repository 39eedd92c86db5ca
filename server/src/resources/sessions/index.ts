export { sweepSessions } from './expiry/sweep.js';
export { sessionRoutes } from './routes.js';
export type { Sessions } from './service.js';
export { createSessions } from './service.js';
