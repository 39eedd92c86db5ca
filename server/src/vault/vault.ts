import type { Principal } from '../access/principal.js';
import type { AuditContext, Entry } from '../audit/entry.js';
import type { KeyStore } from '../crypto/key-store.js';
import type { Expressions } from '../expressions/expressions.js';
import type { Json } from '../kernel/json.js';
import { createKeyedLock } from '../kernel/keyed-lock.js';
import type { LargeWork } from '../kernel/large-work.js';
import type { Database } from '../storage/database.js';
import { changeToken, deleteToken } from './change/change-token.js';
import type { TokenPatch } from './change/token-patch.js';
import { TOKEN_EVENTS } from './events.js';
import { sweepCvcs, sweepExpiredTokens } from './expiry/sweep.js';
import type { DescribedPage, DescribedWanted } from './find/describe.js';
import { describeFound, describeToken } from './find/describe.js';
import type { PageWanted, TokenPage, Wanted } from './find/list.js';
import { createListTokens } from './find/list.js';
import type { SearchData } from './find/look.js';
import { createLook, leastShownBy } from './find/look.js';
import { readToken } from './find/read-token.js';
import { createCombinations } from './make/combinations.js';
import { createToken } from './make/create-token.js';
import type { NewToken } from './make/new-token.js';
import type { TokenSettings } from './make/prepare.js';
import type { TokenizePlan } from './make/tokenize.js';
import { tokenize } from './make/tokenize.js';
import { createOpener } from './open/open.js';
import type { OnIntegrityFault } from './open/open-rows.js';
import type { Fingerprints } from './present/present.js';
import type { PresentedToken, TokenDescription } from './present/token-body.js';
import { listContainers } from './search/directory-queries.js';
import type { SearchTriesOptions } from './search/search-tries.js';
import { createSearchTries } from './search/search-tries.js';
import type { TokenType } from './types/names.js';
import { isTokenType } from './types/names.js';
import type { Purpose } from './use/detokenize.js';
import { detokenize } from './use/detokenize.js';
import type { Preview } from './use/preview.js';
import { preview } from './use/preview.js';

/**
 * All that can be done with the tokens of a tenant. The tenant is the principal's; a token of another one is unknown.
 *
 * Rights. Whether the principal holds a permission at all was asked before (`access/authorize.ts`). Here every single token
 * is decided about, by its containers and the rules of the principal (`access/decide.ts`), and the transform that grants the
 * call shapes what it gives: data, mask or nothing.
 *
 * Log. Each token that is touched has an entry, with the actor, time and address of the audit context. When a promise resolves, the
 * entries are durable, those of a change in the transaction of the change: nothing is handed over that is not in the log.
 * Tokens that are made, read, listed, found, matched or used count as active in their month by the same transaction.
 *
 * Answers. Where the audit context carries `keepAnswer` (an idempotency key), a change hands it the very value it resolves with, in
 * its transaction. A token that goes, or comes to be seen by other rules, takes along what is kept of answers showing it.
 *
 * Memory. What is large waits for room, which the holder of the audit context has until its answer is out.
 *
 * Throws `AppError`: `not_found` for an id that is unknown, deleted or expired, all alike; `access_denied` where no rule
 * grants the call on the token; `storage_unavailable` where a row was altered or the log cannot be written; `overloaded`
 * where there is no room. Further codes stand with each call. Whatever is thrown, nothing was changed, but where the
 * connection broke during the commit (`storage_unavailable`): then nobody can say.
 */
export interface Vault {
  /**
   * Makes a token, or finds the one that stands for it. Takes token:create on every container.
   * Log: "Token created", or "Token matched by deduplication" on the one found.
   * Throws `validation_failed`, `invalid_expression`, `token_id_conflict`.
   */
  create(principal: Principal, auditContext: AuditContext, input: NewToken): Promise<PresentedToken>;

  /** The same for all tokens of a plan: all of them are made, in one transaction, or none. */
  tokenize(principal: Principal, auditContext: AuditContext, plan: TokenizePlan): Promise<Json>;

  /** One token. Takes token:read on one of its containers. Log: "Token retrieved". */
  read(principal: Principal, auditContext: AuditContext, id: string): Promise<PresentedToken>;

  /**
   * A page of the tokens on which the principal has token:read, for a search token:search; others are left out, also of the
   * total. Log: "Token listed", for a search "Token found by search", for each token on the page. Where the page comes in
   * pieces, all entries are durable before the first piece is made; what each token holds when its turn comes decides anew
   * whether the caller sees it. A search with a `data` or `fingerprint` term also logs "Tokens searched", even for an empty page.
   * Throws `invalid_query`, and `search_bound` where the Application has tried too many values today.
   */
  list(principal: Principal, auditContext: AuditContext, wanted: Wanted, page: PageWanted): Promise<TokenPage>;

  /**
   * Changes a token. Takes token:update on every container it is in and will be in; what would show the caller more than
   * before takes a right that reveals it (`change/probing.ts`).
   * Log: "Token updated"; where deduplication leads to another token nothing is changed, and both have "Token matched by
   * deduplication"; "Token opened, request refused" where the caller's own expression failed on stored data.
   * Throws `validation_failed`, `invalid_expression`.
   */
  change(principal: Principal, auditContext: AuditContext, id: string, patch: TokenPatch): Promise<PresentedToken>;

  /** Erases a token for good. Takes token:delete on one of its containers. Log: "Token deleted". */
  delete(principal: Principal, auditContext: AuditContext, id: string): Promise<void>;

  /**
   * Any JSON with the values of the expressions in its strings, all of them or none. Takes token:read on one container of
   * each token that is named, with a transform that shows data. Log: "Token detokenized" for each, or "Token opened, request
   * refused" where an expression failed after they were opened.
   * Throws `invalid_expression`, `unknown_token`, `too_many_tokens`, `validation_failed`.
   */
  detokenize(principal: Principal, auditContext: AuditContext, body: Json): Promise<Json>;

  /**
   * The same for what the product itself does with the values in the principal's name: args of a reactor, body and headers
   * of a proxied request. Takes token:use, which a plain permission grants in the clear.
   * Log: "Token used in reactor" or "Token used in proxy" for each, durable before the plaintext is handed over. What
   * `others` say is durable with them, and so it is where there is no token at all.
   */
  use(
    principal: Principal,
    auditContext: AuditContext,
    body: Json,
    user: TokenUser,
    others?: readonly Entry[],
  ): Promise<Json>;

  /**
   * What a proxied request would hold, with the mask of each token in place of its value, also for one who may read it in the
   * clear. Takes token:use on each token; expressions on others, and on unknown ones, stay as they were written.
   * Log: "Token previewed in proxy" for each token that is granted, or "Token opened, request refused" where all of them
   * together asked for too much. Throws `invalid_expression`, `too_many_tokens`, `validation_failed`.
   */
  preview(principal: Principal, auditContext: AuditContext, body: Json): Promise<Preview>;

  /**
   * What is told of a token to people, and nothing that it holds. Asks for no rule: the role of a member is for the whole tenant,
   * and whoever calls this has checked it. Log: "Token retrieved".
   */
  describe(tenantId: string, auditContext: AuditContext, id: string): Promise<TokenDescription>;

  /**
   * The same for a page of a search by id, type, container and metadata, newest first. Every other field is refused, because
   * who may not see a value must not find out by asking for it. Log: "Token found by search" for each. Throws `invalid_query`.
   */
  describeFound(tenantId: string, auditContext: AuditContext, wanted: DescribedWanted): Promise<DescribedPage>;

  /** Containers with tokens, those with the most first. Checks no right and logs nothing: no token is looked at. */
  containers(tenantId: string, limit: number): Promise<readonly string[]>;

  /** Of a token the caller may know nothing of: for the log, not for an answer. Checks no right and logs nothing. */
  typeOf(tenantId: string, id: string, nowMs: number): Promise<TokenType | undefined>;

  /** Erases a batch of tokens whose time is over, of all tenants. Log: "Token expired", no actor. Gives how many. */
  sweepExpired(nowMs: number): Promise<number>;

  /** Takes verification codes whose hour is over out of a batch of cards. Log: "Card verification code removed". */
  sweepCvcs(nowMs: number): Promise<number>;
}

/** What uses the values of tokens in somebody's name. */
export type TokenUser = 'reactor' | 'proxy';

export interface VaultOptions extends Pick<SearchTriesOptions, 'searchTriesPerDay' | 'onSearchBound'> {
  readonly database: Database;
  readonly keyring: KeyStore['keyring'];
  readonly expressions: Expressions;
  readonly largeWork: LargeWork;
  readonly tokensPerRequestMax: number;
  readonly fingerprints: Fingerprints;
  readonly searchData: SearchData;
  readonly settingsOf: (tenantId: string) => TokenSettings | Promise<TokenSettings>;
  /** A stored token was changed behind the product's back: for the operator. */
  readonly onIntegrityFault: OnIntegrityFault;
}

const READ: Purpose = { permission: 'token:read', event: TOKEN_EVENTS.detokenized };
const USE: Readonly<Record<TokenUser, Purpose>> = {
  reactor: { permission: 'token:use', event: TOKEN_EVENTS.used_in_reactor },
  proxy: { permission: 'token:use', event: TOKEN_EVENTS.used_in_proxy, hasNumbersAsText: true },
};

export function createVault(options: VaultOptions): Vault {
  const { database } = options;
  const opener = createOpener(options);
  const leastShown = leastShownBy(options.fingerprints, options.searchData);
  const look = createLook({ database, opener, leastShown });
  const searchTries = createSearchTries(options);
  const finding = { opener, look, leastShown, searchTries };
  const parts = { ...options, ...finding, combinations: createCombinations(options), inTurn: createKeyedLock() };
  return {
    create: (principal, auditContext, input) => createToken(parts, principal, auditContext, input),
    tokenize: (principal, auditContext, plan) => tokenize(parts, principal, auditContext, plan),
    read: (principal, auditContext, id) => readToken(parts, principal, auditContext, id),
    list: createListTokens(parts),
    change: (principal, auditContext, id, patch) => changeToken(parts, principal, auditContext, id, patch),
    delete: (principal, auditContext, id) => deleteToken(parts, principal, auditContext, id),
    detokenize: (principal, auditContext, body) => detokenize(parts, principal, auditContext, body, READ),
    use: (principal, auditContext, body, user, others) =>
      detokenize(parts, principal, auditContext, body, USE[user], others),
    preview: (principal, auditContext, body) => preview(parts, principal, auditContext, body),
    describe: (tenantId, auditContext, id) => describeToken(parts, tenantId, auditContext, id),
    describeFound: (tenantId, auditContext, wanted) => describeFound(parts, tenantId, auditContext, wanted),
    containers: (tenantId, limit) => database.readPage(tenantId, (tx) => listContainers(tx, limit)),
    async typeOf(tenantId, id, nowMs) {
      const found = await opener.lookBriefly(tenantId, id, nowMs);
      return found && isTokenType(found.type) ? found.type : undefined;
    },
    sweepExpired: (nowMs) => sweepExpiredTokens(parts, nowMs),
    sweepCvcs: (nowMs) => sweepCvcs(parts, nowMs),
  };
}
