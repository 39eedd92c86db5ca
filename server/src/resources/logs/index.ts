export { logRoutes } from './routes.js';
export { createLogs } from './service.js';
