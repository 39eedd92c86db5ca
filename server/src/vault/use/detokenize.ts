import { setImmediate } from 'node:timers/promises';
import { decide } from '../../access/decide.js';
import type { Permission } from '../../access/permissions.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext, Entry } from '../../audit/entry.js';
import type { LogEvent } from '../../audit/events.js';
import type { Budget } from '../../expressions/budget.js';
import { createBudget } from '../../expressions/budget.js';
import type { Expressions, TokenView } from '../../expressions/expressions.js';
import type { Json } from '../../kernel/json.js';
import type { LargeWork } from '../../kernel/large-work.js';
import { paceLarge } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import { placed, recordTouched } from '../change/change.js';
import { FREE_BYTES_MAX, PIECE_BYTES_MAX } from '../find/large-pages.js';
import { tooManyTokens, unknownTokens } from '../make/too-many.js';
import type { Opener } from '../open/open.js';
import { accessDenied, OPENED_TIMES } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { takeRoom } from '../open/room.js';
import { granted, subjectOf } from '../present/answer.js';
import type { Fingerprints, Present } from '../present/present.js';
import { createPresent } from '../present/present.js';
import type { FoundRow } from '../stored/row.js';
import { isLarge, sealedBytesOf } from '../stored/row.js';
import type { NamedExpression } from './detokenize-large.js';
import { evaluateLarge } from './detokenize-large.js';
import type { FoundExpression } from './find-expressions.js';
import { findExpressions, rebuildWith } from './find-expressions.js';
import { lookForAll, namedIn, namingField, numberAsText, tokenViewOf } from './named-tokens.js';
import { createRefusals } from './refused.js';

export interface DetokenizeOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly fingerprints: Fingerprints;
  readonly tokensPerRequestMax: number;
  readonly largeWork: LargeWork;
}

/** What the values are for: which right it takes on every token, and what the log says. */
export interface Purpose {
  readonly permission: Permission;
  readonly event: LogEvent;
  /** Data that is a number is text to expressions; `to_number` makes it one again. */
  readonly hasNumbersAsText?: true;
}

/** One request, with all that its tokens are looked at by. */
interface Asked {
  readonly options: DetokenizeOptions;
  readonly principal: Principal;
  readonly auditContext: AuditContext;
  readonly purpose: Purpose;
  readonly found: readonly FoundExpression[];
  readonly named: readonly NamedExpression[];
  readonly rows: readonly FoundRow[];
  readonly budget: Budget;
  readonly refusals: ReturnType<typeof createRefusals>;
}

/**
 * Puts values in place of expressions: all of them, or none. Nothing leaves before it is in the log, together with what
 * `others` say.
 */
export async function detokenize(
  options: DetokenizeOptions,
  principal: Principal,
  auditContext: AuditContext,
  body: Json,
  purpose: Purpose,
  others: readonly Entry[] = [],
): Promise<Json> {
  const { database, expressions, tokensPerRequestMax } = options;
  const { tenantId } = principal;
  const step = <T>(work: () => T) => paceLarge(options.largeWork, tenantId, auditContext.holder, work);
  const found = await step(() => findExpressions(body));
  const budget = createBudget();
  const { named, ids } = await step(() => namedIn(expressions, found, budget));
  if (ids.length > tokensPerRequestMax) throw tooManyTokens(tokensPerRequestMax);
  const rows = await findAll(options.opener, principal, auditContext, ids);
  const refusals = createRefusals(database, auditContext);
  const tokens = rows.map(placed);
  let values: Json[];
  try {
    const asked = { options, principal, auditContext, purpose, found, named, rows, budget, refusals };
    values = await evaluateAll(asked);
  } catch (error) {
    throw await refusals.logged(tokens, error);
  }
  const answer = values.length === 0 ? body : await step(() => rebuildWith(body, values));
  const { event } = purpose;
  if (tokens.length > 0 || others.length > 0)
    await database.append(tenantId, (tx) => recordTouched(tx, auditContext, event, tokens, others));
  return answer;
}

async function findAll(
  opener: Opener,
  principal: Principal,
  auditContext: AuditContext,
  ids: readonly string[],
): Promise<FoundRow[]> {
  if (ids.length === 0) return [];
  const found = await lookForAll(opener, principal.tenantId, ids, auditContext.atMs);
  const unknown = ids.filter((_, n) => found[n] === undefined);
  if (unknown.length > 0) throw unknownTokens(unknown);
  return found.filter((row) => row !== undefined);
}

function evaluateAll(asked: Asked): Promise<Json[]> {
  const { options, principal, auditContext, found, named, rows, budget, refusals } = asked;
  const { opener, expressions, largeWork } = options;
  const present = createPresent(options, () => budget, auditContext);
  const viewsOf = (tokens: readonly OpenRow[], by = present) =>
    new Map(tokens.map((token) => [token.row.id, viewOf(asked, by, token)]));
  const noting = <T>(evaluate: () => T): T => refusals.noting(() => namingField(pathOfAll(found), evaluate));
  const evaluate = (text: string, views: ReadonlyMap<string, TokenView>): Json =>
    expressions.evaluateWithTokens(text, views, budget) ?? null;
  const small = rows.filter((row) => !isLarge(row));
  const bytes = rows.reduce((sum, row) => sum + sealedBytesOf(row), 0);
  if (small.length === rows.length && bytes <= PIECE_BYTES_MAX) {
    const evaluateOn = async (tokens: readonly OpenRow[]): Promise<Json[]> => {
      const views = viewsOf(tokens);
      const values: Json[] = [];
      while (values.length < found.length) {
        const piece = paceLarge(largeWork, principal.tenantId, auditContext.holder, () =>
          noting(() => evaluatePiece(found, values, budget, (text) => evaluate(text, views))),
        );
        if (piece instanceof Promise) await piece;
        // Other requests get on between two pieces of a small one too.
        else if (values.length < found.length) await setImmediate();
      }
      return values;
    };
    if (bytes > FREE_BYTES_MAX) {
      return takeRoom(largeWork, principal.tenantId, auditContext, bytes * OPENED_TIMES)
        .then(() => opener.open(principal.tenantId, small))
        .then(evaluateOn);
    }
    const opened = opener.open(principal.tenantId, small);
    return opened instanceof Promise ? opened.then(evaluateOn) : evaluateOn(opened);
  }
  // Looking at masks before the expressions must not use up what is theirs.
  const first = createPresent(options, createBudget, auditContext);
  return evaluateLarge(options, {
    principal,
    auditContext,
    rows,
    expressions: named,
    budget,
    noting,
    check: (token) => void viewsOf([token], first),
    viewsOf,
    evaluate,
  });
}

/** A tenth of what the expressions of one request may cost together, about two milliseconds. */
const PIECE_UNITS = 400_000;

/** Evaluates expressions from where `values` ends, until a piece of work is done. */
function evaluatePiece(
  found: readonly FoundExpression[],
  values: Json[],
  budget: Budget,
  evaluate: (text: string) => Json,
): void {
  const until = budget.unitsLeft() - PIECE_UNITS;
  for (const { text } of found.slice(values.length)) {
    values.push(evaluate(text));
    if (budget.unitsLeft() < until) return;
  }
}

function viewOf({ principal, auditContext, purpose }: Asked, present: Present, token: OpenRow): TokenView {
  const transform = granted(decide(principal, purpose.permission, subjectOf(token)));
  const data = present.data(token, transform, auditContext.atMs);
  // In an expression there is no leaving the data out: it would read like a token that holds nothing.
  if (data === undefined) throw accessDenied();
  const value = purpose.hasNumbersAsText ? numberAsText(data) : data;
  return tokenViewOf(token, value, present.fingerprint(token, transform));
}

/** What the tokens hold decides which of several expressions fails, so a refusal does not tell which it was. */
function pathOfAll(found: readonly FoundExpression[]): string {
  return found.length === 1 && found[0] ? found[0].path : '$';
}
