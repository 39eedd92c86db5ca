import { TOKEN_EVENTS } from '../../vault/index.js';
import type { Slice } from '../slice.js';
import { tokenRoutes } from './routes.js';
import type { TokensOptions } from './service.js';
import { createTokens } from './service.js';

export { readNewToken } from './input/new-token.js';
export { readTokenizePlan } from './service.js';

/** Tables and jobs are the vault's. */
export const tokens: Slice<TokensOptions> = {
  name: 'tokens',
  routes: (parts) => tokenRoutes(createTokens(parts)),
  events: Object.values(TOKEN_EVENTS),
  tables: [],
};
