import type { CursorScope, Cursors } from '../../http/paging/cursor.js';
import type { CursorPagination } from '../../http/paging/pages.js';
import { cursorPage, PAGE_SIZE_DEFAULT } from '../../http/paging/pages.js';
import type { TokenDescription, Vault } from '../../vault/index.js';
import { TOKEN_EVENTS } from '../../vault/index.js';
import type { OwnTenantCall, OwnTenantOptions } from '../portal/index.js';
import { createEnterTenant } from '../portal/index.js';
import type { PortalTokenSearch } from './schema.js';

export interface TokenPagesOptions extends OwnTenantOptions {
  readonly vault: Pick<Vault, 'describe' | 'describeFound'>;
  readonly cursors: Cursors;
}

interface FoundTokens {
  readonly pagination: CursorPagination;
  readonly data: readonly TokenDescription[];
}

/** Tokens as people see them. */
export interface TokenPages {
  get(call: OwnTenantCall, id: string): ReturnType<Vault['describe']>;
  search(call: OwnTenantCall, asked: PortalTokenSearch): Promise<FoundTokens>;
}

/**
 * Roles hold no permission on tokens. What is shown here is what the log is about (ids, types, who did what and when) and what
 * stands beside it in the clear, so it takes the permission to read the log.
 */
const ASKING = { permission: 'log:read', onDenied: TOKEN_EVENTS.denied } as const;

export function createTokenPages(options: TokenPagesOptions): TokenPages {
  const { vault, cursors } = options;
  const enter = createEnterTenant(options);
  return {
    async get(call, id) {
      const { tenantId } = await enter(call, ASKING);
      return vault.describe(tenantId, call.auditContext, id);
    },
    async search(call, { query = '', start, size: limit = PAGE_SIZE_DEFAULT }) {
      const { tenantId } = await enter(call, ASKING);
      const scope: CursorScope = { list: 'portal-tokens', tenantId, filters: [query] };
      const position = start === undefined ? undefined : cursors.open(scope, start);
      const after = position && { createdAtMs: position.atMs, tie: position.id };
      const { tokens, next } = await vault.describeFound(tenantId, call.auditContext, { query, after, limit });
      const cursor = next && cursors.seal(scope, { atMs: next.createdAtMs, id: next.tie });
      return { pagination: cursorPage(limit, cursor), data: tokens };
    },
  };
}
