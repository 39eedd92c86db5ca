import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { CursorScope, Cursors } from '../../http/paging/cursor.js';
import type { CursorPagination, OffsetPagination } from '../../http/paging/pages.js';
import { cursorPage, offsetPage, PAGE_SIZE_DEFAULT, pageAsked } from '../../http/paging/pages.js';
import { PiecewiseList } from '../../http/transport/piecewise.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import type { Filters, TokenizePlan, TokenPage, Vault } from '../../vault/index.js';
import { tooManyTokens } from '../../vault/index.js';
import type { InputContext } from './input/fields.js';
import { readNewToken } from './input/new-token.js';
import { readTokenPatch } from './input/token-patch.js';
import { readTokenizeBody } from './input/tokenize.js';
import type { TokenBody } from './schema.js';

export interface TokensOptions {
  readonly vault: Vault;
  readonly cursors: Cursors;
  readonly tokensPerRequestMax: number;
}

/** What is looked for: by the filters of a list, or by the text of a search. */
export type AskedTokens =
  | { readonly by: 'filters'; readonly filters: Filters }
  | { readonly by: 'query'; readonly query: string };

/** A page of a list as it is answered. */
type List<Pagination> = { readonly pagination: Pagination; readonly data: TokenBody[] } | PiecewiseList;

export interface Tokens {
  create(principal: Principal, auditContext: AuditContext, body: unknown): Promise<TokenBody>;
  get(principal: Principal, auditContext: AuditContext, id: string): Promise<TokenBody>;
  update(principal: Principal, auditContext: AuditContext, id: string, body: unknown): Promise<TokenBody>;
  delete(principal: Principal, auditContext: AuditContext, id: string): Promise<void>;
  tokenize(principal: Principal, auditContext: AuditContext, body: unknown): Promise<Json>;
  detokenize(principal: Principal, auditContext: AuditContext, body: unknown): Promise<Json>;
  /** A page by its number, with the exact total. */
  listNumbered(
    principal: Principal,
    auditContext: AuditContext,
    wanted: AskedTokens,
    asked: { readonly page?: number; readonly size?: number },
  ): Promise<List<OffsetPagination>>;
  /** A page by cursor; containers include what is below them. */
  listFollowing(
    principal: Principal,
    auditContext: AuditContext,
    wanted: AskedTokens,
    asked: { readonly start?: string; readonly size?: number },
  ): Promise<List<CursorPagination>>;
  readonly typeOf: Vault['typeOf'];
}

/** Reads what a request asks for, has the vault do it, and puts pages into their envelope. */
export function createTokens({ vault, cursors, tokensPerRequestMax }: TokensOptions): Tokens {
  return {
    create: (principal, auditContext, body) =>
      vault.create(
        principal,
        auditContext,
        checked((errors) => readNewToken(body, { path: '', nowMs: auditContext.atMs }, errors)),
      ),
    get: vault.read,
    update: (principal, auditContext, id, body) =>
      vault.change(
        principal,
        auditContext,
        id,
        checked((errors) => readTokenPatch(body, { path: '', nowMs: auditContext.atMs }, errors)),
      ),
    delete: vault.delete,
    typeOf: vault.typeOf,

    tokenize(principal, auditContext, body) {
      // The body came out of the parser, so it is JSON.
      const plan = readTokenizePlan(body as Json, { path: '', nowMs: auditContext.atMs }, tokensPerRequestMax);
      return vault.tokenize(principal, auditContext, plan);
    },
    detokenize: (principal, auditContext, body) => vault.detokenize(principal, auditContext, body as Json),

    async listNumbered(principal, auditContext, wanted, asked) {
      const { page, size, offset } = pageAsked(asked);
      const range = { by: 'offset', offset, limit: size } as const;
      const found = await vault.list(principal, auditContext, { ...wanted, includesChildren: false }, range);
      return listOf(offsetPage({ total: found.total, page, size }), found);
    },

    async listFollowing(principal, auditContext, wanted, asked) {
      const limit = asked.size ?? PAGE_SIZE_DEFAULT;
      const scope = scopeOf(principal, wanted);
      const position = asked.start === undefined ? undefined : cursors.open(scope, asked.start);
      const after = position && { createdAtMs: position.atMs, tie: position.id };
      const range = { by: 'position', after, limit } as const;
      const found = await vault.list(principal, auditContext, { ...wanted, includesChildren: true }, range);
      const next = found.next && cursors.seal(scope, { atMs: found.next.createdAtMs, id: found.next.tie });
      return listOf(cursorPage(limit, next), found);
    },
  };
}

function listOf<Pagination extends object>(pagination: Pagination, { tokens }: TokenPage): List<Pagination> {
  if (typeof tokens !== 'function') return { pagination, data: tokens };
  // The items are the tokens that the vault hands to `write`.
  return new PiecewiseList(pagination, tokens);
}

function scopeOf({ tenantId }: Principal, wanted: AskedTokens): CursorScope {
  if (wanted.by === 'query') return { list: 'tokens-search', tenantId, filters: [wanted.query] };
  const { ids = [], types = [], containers = [], metadata = [], fingerprint = '' } = wanted.filters;
  // The same filters in another order are the same filters.
  const parts = [ids, types, containers, metadata.map((pair) => JSON.stringify(pair))].map((part) => [...part].sort());
  return { list: 'tokens', tenantId, filters: [...parts.map((part) => JSON.stringify(part)), fingerprint] };
}

/** The tokens that a body asks for, or one 400 for all that is wrong with it. */
export function readTokenizePlan(body: Json, context: InputContext, tokensMax: number): TokenizePlan {
  return checked((errors) => {
    const read = readTokenizeBody(body, context, errors, tokensMax);
    if (read.isTooMany) throw tooManyTokens(tokensMax);
    return read;
  });
}

/** Runs a reader that reports faults, and turns them into one 400. */
function checked<T>(read: (errors: FieldErrors) => T | undefined): T {
  const errors: FieldErrors = {};
  const value = read(errors);
  if (value === undefined || Object.keys(errors).length > 0) throw validationFailed(errors);
  return value;
}
