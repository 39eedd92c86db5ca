export type { CreatedApplication, NewApplication } from './service.js';
export { createApplication } from './service.js';
