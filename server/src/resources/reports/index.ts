export { reportRoutes } from './routes.js';
export type { TokenUsage } from './service.js';
export { countUsage, createReports } from './service.js';
