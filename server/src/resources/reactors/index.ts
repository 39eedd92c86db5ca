import type { Slice } from '../slice.js';
import { REACTOR_EVENTS } from './events.js';
import { reactorRoutes } from './routes.js';
import type { ReactorsOptions } from './service.js';
import { createReactors } from './service.js';
import { REACTOR_TABLES } from './tables.js';

export type { StoreOptions } from './definition/store.js';
export { createAnswerCode } from './run/answer-code.js';

export const reactors: Slice<ReactorsOptions> = {
  name: 'reactors',
  routes: (parts) => reactorRoutes(createReactors(parts)),
  events: Object.values(REACTOR_EVENTS),
  tables: REACTOR_TABLES,
};
