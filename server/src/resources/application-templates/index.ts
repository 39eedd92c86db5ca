import type { Slice } from '../slice.js';
import { applicationTemplateRoutes } from './routes.js';

export const applicationTemplates: Slice<unknown> = {
  name: 'application-templates',
  routes: applicationTemplateRoutes,
  events: [],
  tables: [],
};
