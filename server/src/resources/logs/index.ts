export { exportLogs } from './export.js';
export { logRoutes } from './routes.js';
export { createLogs } from './service.js';
