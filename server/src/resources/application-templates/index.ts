export { applicationTemplateRoutes } from './routes.js';
