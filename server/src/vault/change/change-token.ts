import { decide, decideAll } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { Transform } from '../../access/rules.js';
import type { AuditContext } from '../../audit/entry.js';
import { createBudget } from '../../expressions/budget.js';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import type { KeyedLock } from '../../kernel/keyed-lock.js';
import { paceLarge } from '../../kernel/large-work.js';
import type { TenantTx } from '../../storage/scope.js';
import { beforeWriting } from '../../storage/unwritten.js';
import { TOKEN_EVENTS } from '../events.js';
import { claimOf, holderOf } from '../make/claims.js';
import { insertCombinations } from '../make/combination-queries.js';
import { combinationOf } from '../make/combinations.js';
import type { MakeOptions } from '../make/create-token.js';
import type { Preparation } from '../make/prepare.js';
import { prepareFor } from '../make/prepare-for.js';
import type { Opener } from '../open/open.js';
import { known } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { granted, isStranger, presentMatch, shownIn, subjectOf } from '../present/answer.js';
import type { Present } from '../present/present.js';
import { createPresent } from '../present/present.js';
import type { PresentedToken } from '../present/token-body.js';
import { createRefusals } from '../use/refused.js';
import { recordTouched, removeTokens, writeChange } from './change.js';
import { changesExpressions, refuseProbing } from './probing.js';
import type { TokenPatch } from './token-patch.js';
import type { ChangedToken } from './update.js';
import { mergeChange, refuseTooLarge, workOutChange } from './update.js';

export interface ChangeOptions extends MakeOptions {
  /** Changes of one token wait for each other here, not in a transaction that others share. */
  readonly inTurn: KeyedLock;
}

/** One request to change a token, with what it needs however often it is tried. */
interface Asked {
  readonly principal: Principal;
  readonly auditContext: AuditContext;
  readonly id: string;
  readonly patch: TokenPatch;
  readonly common: Preparation;
  readonly refusals: ReturnType<typeof createRefusals>;
}

/** The token as it would be, and how its caller would see it. */
interface Applied extends ChangedToken {
  readonly current: OpenRow;
  readonly transform: Transform;
  readonly present: Present;
}

export async function changeToken(
  options: ChangeOptions,
  principal: Principal,
  auditContext: AuditContext,
  id: string,
  patch: TokenPatch,
): Promise<PresentedToken> {
  const { database, opener, combinations, largeWork } = options;
  // Tried first outside the change, so that a refusal does not undo a batch others are in.
  const seen = known(await opener.find(principal.tenantId, id, auditContext));
  const common = await prepareFor(options, principal, auditContext);
  const refusals = createRefusals(database, auditContext);
  const asked: Asked = { principal, auditContext, id, patch, common, refusals };
  try {
    const applied = await paceLarge(largeWork, principal.tenantId, auditContext.holder, () =>
      apply(options, asked, seen),
    );
    const { token } = applied;
    if (token.row.group_id !== seen.row.group_id) await combinations.allow(principal, auditContext, [token]);
    return await alone(options, principal, id, (tx) => write(options, asked, applied, tx));
  } catch (error) {
    throw await refusals.logged([seen], error);
  }
}

export async function deleteToken(
  options: ChangeOptions,
  principal: Principal,
  auditContext: AuditContext,
  id: string,
): Promise<void> {
  const { opener } = options;
  const allow = (token: OpenRow) => {
    granted(decide(principal, 'token:delete', subjectOf(token)));
    return token;
  };
  allow(known(await opener.find(principal.tenantId, id, auditContext)));
  await alone(options, principal, id, async (tx) => {
    const locked = await opener.lock(tx, id, auditContext.atMs);
    const token = beforeWriting(() => allow(known(locked)));
    await removeTokens(tx, auditContext, [token], TOKEN_EVENTS.deleted);
  });
}

function alone<T>(
  { database, inTurn }: ChangeOptions,
  { tenantId }: Principal,
  id: string,
  work: (tx: TenantTx) => Promise<T>,
): Promise<T> {
  return inTurn(`${tenantId}${id}`, () => database.write(tenantId, work));
}

/** Works out the change of the token as it is now, or throws what stands against it. */
function apply(options: ChangeOptions, asked: Asked, current: OpenRow): Applied {
  const { principal, auditContext, id, patch, common, refusals } = asked;
  granted(decideAll(principal, 'token:update', subjectOf(current)));
  const { before, after, faults } = mergeChange(current, patch, auditContext.atMs);
  const containers = [...before.containers, ...after.containers];
  const transform = granted(decideAll(principal, 'token:update', { id, containers }));
  refuseProbing(principal, { id, before, after }, patch);
  // Whoever wrote an expression learns by these as well what it looked at.
  const refusing = changesExpressions(before, after) ? refusals.noting : atOnce;
  refusing(() => refuseFaults(faults));
  // A budget for each try: what a neighbour's failure makes us do again must not lead to another answer.
  const preparation = { ...common, budget: createBudget() };
  const changed = refusals.noting(() => workOutChange(preparation, current, after, patch));
  refusing(() => refuseTooLarge(current, changed.token));
  return { ...changed, current, transform, present: createPresent(options, () => preparation.budget, auditContext) };
}

/** Uses `first`, the change computed before the transaction, unless the token was changed since then. */
async function write(options: ChangeOptions, asked: Asked, first: Applied, tx: TenantTx): Promise<PresentedToken> {
  const { principal, auditContext, id } = asked;
  const locked = await options.opener.lock(tx, id, auditContext.atMs);
  const { current, token, isToBeClaimed, transform, present } = beforeWriting(() => {
    const now = known(locked);
    return isSameVersion(now, first.current) ? first : apply(options, asked, now);
  });
  const match =
    isToBeClaimed && !isStranger(principal) ? await matchOf(options.opener, tx, auditContext, token) : undefined;
  // Changed meanwhile, so that it goes elsewhere than what was asked for: one of the few that privacy stands for.
  if (token.row.group_id !== first.token.row.group_id)
    await insertCombinations(tx, [combinationOf(token)], isStranger(principal));
  // Of both: that the addressed one led there tells the caller something about it.
  if (match) await recordTouched(tx, auditContext, TOKEN_EVENTS.matched, [match, current]);
  else await writeChange(tx, auditContext, current, token, TOKEN_EVENTS.updated);
  const answer = match
    ? presentMatch(principal, present, match, auditContext.atMs)
    : present.body(token, transform, auditContext.atMs);
  await auditContext.keepAnswer?.(tx, answer, shownIn([answer]));
  return answer;
}

/** Nothing of the row was written since: also not by a sweep, which takes a code away without a new version. */
function isSameVersion({ row: a }: OpenRow, { row: b }: OpenRow): boolean {
  return a.data_version === b.data_version && a.sealed.equals(b.sealed);
}

/** The other token that stands for the fingerprint this one is about to get; undefined when it stands for itself. */
async function matchOf(
  opener: Opener,
  tx: TenantTx,
  auditContext: AuditContext,
  token: OpenRow,
): Promise<OpenRow | undefined> {
  const { id } = token.row;
  const claim = claimOf(token, id, auditContext.atMs);
  const lock = (held: string) => opener.lock(tx, held, auditContext.atMs);
  const holder = claim && (await holderOf(tx, token, claim, lock));
  return holder === undefined || holder === id ? undefined : lock(holder);
}

function refuseFaults(faults: FieldErrors): void {
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
}

function atOnce(work: () => void): void {
  work();
}
