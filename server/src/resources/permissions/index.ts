export { permissionRoutes } from './routes.js';
