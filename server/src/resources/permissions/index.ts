import type { Slice } from '../slice.js';
import { permissionRoutes } from './routes.js';

export const permissions: Slice<unknown> = {
  name: 'permissions',
  routes: permissionRoutes,
  events: [],
  tables: [],
};
