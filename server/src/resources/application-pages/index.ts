import type { Slice } from '../slice.js';
import { applicationPageRoutes } from './routes.js';
import type { ApplicationPagesOptions } from './service.js';
import { createApplicationPages } from './service.js';

export const applicationPages: Slice<ApplicationPagesOptions> = {
  name: 'application-pages',
  routes: (parts) => applicationPageRoutes(createApplicationPages(parts)),
  events: [],
  tables: [],
};
