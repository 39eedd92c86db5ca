import type { Slice } from '../slice.js';
import type { ReactorsOptions } from './definition/store.js';
import { REACTOR_EVENTS } from './events.js';
import { reactorRoutes } from './routes.js';
import { createReactors } from './service.js';
import { REACTOR_TABLES } from './tables.js';

export type { ReactorsOptions } from './definition/store.js';

export const reactors: Slice<ReactorsOptions> = {
  name: 'reactors',
  routes: (parts) => reactorRoutes(createReactors(parts)),
  events: Object.values(REACTOR_EVENTS),
  tables: REACTOR_TABLES,
};
