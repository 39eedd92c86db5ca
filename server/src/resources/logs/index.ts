export { logRoutes } from './routes.js';
export { createLogs } from './service.js';
export { exportLogs } from './transfer/export.js';
