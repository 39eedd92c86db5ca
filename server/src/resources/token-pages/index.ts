import type { Slice } from '../slice.js';
import { tokenPageRoutes } from './routes.js';
import type { TokenPagesOptions } from './service.js';
import { createTokenPages } from './service.js';

export const tokenPages: Slice<TokenPagesOptions> = {
  name: 'token-pages',
  routes: (parts) => tokenPageRoutes(createTokenPages(parts)),
  events: [],
  tables: [],
};
