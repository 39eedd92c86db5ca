export type { GroupDifference } from './queries.js';
export { reportRoutes } from './routes.js';
export type { ActiveToken, TokenUsage } from './service.js';
export { countUsage, createReports } from './service.js';
