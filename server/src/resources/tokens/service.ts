import { decide, decideAll } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { Act } from '../../audit/entry.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { createBudget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import type { Cursors } from '../../http/paging/cursor.js';
import { assert } from '../../kernel/assert.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import type { LargeWork } from '../../kernel/large-work.js';
import { createTurns } from '../../kernel/turns.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { beforeWriting } from '../../storage/unwritten.js';
import { recordTouched, removeTokens, writeChange } from '../../vault/change/change.js';
import { changesExpressions, refuseProbing } from '../../vault/change/probing.js';
import { changeToken, mergeChange, refuseTooLarge } from '../../vault/change/update.js';
import { readLarge } from '../../vault/find/large-read.js';
import type { Lists, SearchData } from '../../vault/find/list.js';
import { createLists } from '../../vault/find/list.js';
import { claimOf, holderOf } from '../../vault/make/claims.js';
import { letIn } from '../../vault/make/combination-queries.js';
import { combinationOf, createCombinations } from '../../vault/make/combinations.js';
import { makeTokens } from '../../vault/make/make.js';
import type { Preparation, TokenSettings } from '../../vault/make/prepare.js';
import { writeUnlessTaken } from '../../vault/make/taken-ids.js';
import { createTokenize } from '../../vault/make/tokenize.js';
import type { Opener, OpenRow } from '../../vault/open/open.js';
import { known } from '../../vault/open/open.js';
import { granted, isStranger, prepareGranted, presentMatch, shownIn, subjectOf } from '../../vault/present/answer.js';
import { keepShowing } from '../../vault/present/keep.js';
import type { Fingerprints } from '../../vault/present/present.js';
import { createPresent } from '../../vault/present/present.js';
import { isLarge } from '../../vault/stored/row.js';
import type { TokenType } from '../../vault/types/names.js';
import { isTokenType } from '../../vault/types/names.js';
import { createDetokenize } from '../../vault/use/detokenize.js';
import { createRefusals } from '../../vault/use/refused.js';
import { readNewToken } from './input/new-token.js';
import { readTokenPatch } from './input/token-patch.js';
import type { TokenBody } from './schema.js';

export interface TokensOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly cursors: Cursors;
  readonly largeWork: LargeWork;
  readonly tokensPerRequestMax: number;
  readonly fingerprints: Fingerprints;
  readonly searchData: SearchData;
  readonly settingsOf: (tenantId: string) => TokenSettings | Promise<TokenSettings>;
}

export interface Tokens {
  create(principal: Principal, act: Act, body: unknown): Promise<TokenBody>;
  get(principal: Principal, act: Act, id: string): Promise<TokenBody>;
  update(principal: Principal, act: Act, id: string, body: unknown): Promise<TokenBody>;
  delete(principal: Principal, act: Act, id: string): Promise<void>;
  tokenize(principal: Principal, act: Act, body: unknown): Promise<Json>;
  detokenize(principal: Principal, act: Act, body: unknown): Promise<Json>;
  readonly lists: Lists;
  /** Of a token the caller may know nothing of: for the log, not for an answer. */
  typeOf(tenantId: string, id: string, nowMs: number): Promise<TokenType | undefined>;
}

export function createTokens(options: TokensOptions): Tokens {
  const { database, opener } = options;
  const combinations = createCombinations(options);
  const tokenize = createTokenize({
    ...options,
    combinations,
    prepareFor: (principal, act) => prepareFor(options, principal, act),
  });
  const detokenize = createDetokenize(options);
  const inTurn = createTurns();
  /** Changes of one token wait for each other here, not in a transaction that others share. */
  const change = <T>({ tenantId }: Principal, id: string, work: (tx: TenantTx) => Promise<T>): Promise<T> =>
    inTurn(`${tenantId}${id}`, () => database.write(tenantId, work));

  return {
    lists: createLists(options),
    async typeOf(tenantId, id, nowMs) {
      const found = await opener.lookBriefly(tenantId, id, nowMs);
      return found && isTokenType(found.type) ? found.type : undefined;
    },
    // The body came out of the parser, so it is JSON.
    tokenize: (principal, act, body) => tokenize(principal, act, body as Json),
    detokenize: (principal, act, body) => detokenize(principal, act, body as Json),

    async create(principal, act, body) {
      const input = checked((errors) => readNewToken(body, { path: '', nowMs: act.atMs }, errors));
      const preparation = await prepareFor(options, principal, act);
      const token = prepareGranted(preparation, principal, input, '');
      const admission = combinations.admit(principal, act, [token.token]);
      if (admission) await admission;
      return writeUnlessTaken(database, principal.tenantId, [token.token], act.atMs, async (tx) => {
        const [answer] = await makeTokens(tx, opener, principal, preparation, [token]);
        assert(answer !== undefined, 'one token has one answer');
        await keepShowing(tx, act, answer, [answer]);
        return answer;
      });
    },

    async get(principal, act, id) {
      const found = known(await opener.look(principal.tenantId, id, act.atMs));
      if (isLarge(found)) {
        return readLarge(options, principal, act, found, createPresent(options, createBudget, act));
      }
      const token = known((await opener.open(principal.tenantId, [found]))[0]);
      const transform = granted(decide(principal, 'token:read', subjectOf(token)));
      await database.write(principal.tenantId, (tx) => recordTouched(tx, act, 'token_retrieved', [token]));
      return createPresent(options, createBudget, act).body(token, transform, act.atMs);
    },

    async update(principal, act, id, body) {
      const patch = checked((errors) => readTokenPatch(body, { path: '', nowMs: act.atMs }, errors));
      // Tried first outside the change, so that a refusal does not undo a batch others are in.
      const seen = known(await opener.find(principal.tenantId, id, act));
      const common = await prepareFor(options, principal, act);
      const refusals = createRefusals(database, act);
      let admitted: string | undefined;
      const apply = (current: OpenRow) => {
        granted(decideAll(principal, 'token:update', subjectOf(current)));
        const { before, after, faults } = mergeChange(current, patch, act.atMs);
        const containers = [...before.containers, ...after.containers];
        const transform = granted(decideAll(principal, 'token:update', { id, containers }));
        refuseProbing(principal, { id, before, after }, patch);
        // Whoever wrote an expression learns by these as well what it looked at.
        const refusing = changesExpressions(before, after) ? refusals.noting : atOnce;
        refusing(() => refuseFaults(faults));
        // A budget for each try: what a neighbour's failure makes us do again must not lead to another answer.
        const preparation = { ...common, budget: createBudget() };
        const changed = refusals.noting(() => changeToken(preparation, current, after, patch));
        refusing(() => refuseTooLarge(current, changed.token));
        return { ...changed, current, transform, present: createPresent(options, () => preparation.budget, act) };
      };
      const applied = async (tx: TenantTx): Promise<TokenBody> => {
        const locked = await opener.lock(tx, id, act.atMs);
        const { current, token, isToBeClaimed, transform, present } = beforeWriting(() => apply(known(locked)));
        const match = isToBeClaimed && !isStranger(principal) ? await matchOf(tx, act, token) : undefined;
        // Changed meanwhile, so that it goes elsewhere than what was asked for: one of the few that privacy stands for.
        if (token.row.group_id !== admitted) await letIn(tx, [combinationOf(token)], isStranger(principal));
        // Of both: that the addressed one led there tells the caller something about it.
        if (match) await recordTouched(tx, act, 'token_matched', [match, current]);
        else await writeChange(tx, act, current, token, 'token_updated');
        const answer = match
          ? presentMatch(principal, present, match, act.atMs)
          : present.body(token, transform, act.atMs);
        await act.keepAnswer?.(tx, answer, shownIn([answer]));
        return answer;
      };
      try {
        const { token } = apply(seen);
        if (token.row.group_id !== seen.row.group_id) await combinations.admit(principal, act, [token]);
        admitted = token.row.group_id;
        return await change(principal, id, applied);
      } catch (error) {
        throw await refusals.logged([seen], error);
      }
    },

    async delete(principal, act, id) {
      const allow = (token: OpenRow) => {
        granted(decide(principal, 'token:delete', subjectOf(token)));
        return token;
      };
      allow(known(await opener.find(principal.tenantId, id, act)));
      await change(principal, id, async (tx) => {
        const locked = await opener.lock(tx, id, act.atMs);
        const token = beforeWriting(() => allow(known(locked)));
        await removeTokens(tx, act, [token], 'token_deleted');
      });
    },
  };

  /** The other token that stands for the fingerprint this one is about to get; undefined when it stands for itself. */
  async function matchOf(tx: TenantTx, act: Act, token: OpenRow): Promise<OpenRow | undefined> {
    const { id } = token.row;
    const claim = claimOf(token, id, act.atMs);
    const lock = (held: string) => opener.lock(tx, held, act.atMs);
    const holder = claim && (await holderOf(tx, token, claim, lock));
    return holder === undefined || holder === id ? undefined : lock(holder);
  }
}

/**
 * What every change needs: the tenant's keys and wishes, and a bound on what expressions may cost. Both are remembered as a
 * rule, so as a rule nothing is waited for.
 */
export function prepareFor(options: TokensOptions, principal: Principal, act: Act): Preparation | Promise<Preparation> {
  const { tenantId } = principal;
  const { expressions, fingerprints } = options;
  const build = (keys: TenantKeys, settings: TokenSettings): Preparation => ({
    tenantId,
    act,
    keys,
    settings,
    expressions,
    fingerprints,
    isStranger: isStranger(principal),
    mayCompare: (containers) => decideAll(principal, 'token:read', { id: '', containers }) === 'reveal',
    budget: createBudget(),
  });
  const keys = options.opener.keysOf(tenantId);
  const settings = options.settingsOf(tenantId);
  if (!(keys instanceof Promise) && !(settings instanceof Promise)) return build(keys, settings);
  return Promise.all([keys, settings]).then(([known, wishes]) => build(known, wishes));
}

function refuseFaults(faults: FieldErrors): void {
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
}

function atOnce(work: () => void): void {
  work();
}

/** Runs a reader that reports faults, and turns them into one 400. */
export function checked<T>(read: (errors: FieldErrors) => T | undefined): T {
  const errors: FieldErrors = {};
  const value = read(errors);
  if (value === undefined || Object.keys(errors).length > 0) throw validationFailed(errors);
  return value;
}
