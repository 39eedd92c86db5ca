import { decide } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { Act } from '../../audit/entry.js';
import type { Budget } from '../../expressions/budget.js';
import { createBudget } from '../../expressions/budget.js';
import type { Expressions, TokenView } from '../../expressions/expressions.js';
import { formatDate } from '../../kernel/dates.js';
import { AppError } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import { placed, recordTouched } from '../change/change.js';
import { FREE_BYTES_MAX, PIECE_BYTES_MAX } from '../find/large-pages.js';
import { tooManyTokens, unknownTokens } from '../make/too-many.js';
import type { Opener, OpenRow } from '../open/open.js';
import { accessDenied, OPENED_TIMES } from '../open/open.js';
import { takeRoom } from '../open/room.js';
import { granted, subjectOf } from '../present/answer.js';
import type { Fingerprints, Present } from '../present/present.js';
import { createPresent } from '../present/present.js';
import type { FoundRow } from '../stored/row.js';
import { isLarge, sealedBytesOf } from '../stored/row.js';
import { evaluateLarge } from './detokenize-large.js';
import type { FoundExpression } from './find-expressions.js';
import { findExpressions, rebuildWith } from './find-expressions.js';
import { createRefusals } from './refused.js';

export interface DetokenizeOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly fingerprints: Fingerprints;
  readonly tokensPerRequestMax: number;
  readonly largeWork: LargeWork;
}

/** Above so many tokens each brings less of its record along. */
const FEW = 8;

/** Puts values in place of expressions: all of them, or none. Nothing leaves before it is in the log. */
export function createDetokenize(options: DetokenizeOptions) {
  const { database, opener, expressions } = options;

  async function findAll(principal: Principal, act: Act, ids: readonly string[]): Promise<FoundRow[]> {
    const look = ids.length > FEW ? opener.lookBriefly : opener.look;
    const found = await Promise.all(ids.map((id) => look(principal.tenantId, id, act.atMs)));
    const unknown = ids.filter((_, n) => found[n] === undefined);
    if (unknown.length > 0) throw unknownTokens(unknown);
    return found.filter((row) => row !== undefined);
  }

  function viewOf(present: Present, principal: Principal, act: Act, token: OpenRow): TokenView {
    const transform = granted(decide(principal, 'token:read', subjectOf(token)));
    const data = present.data(token, transform, act.atMs);
    // In an expression there is no leaving the data out: it would read like a token that holds nothing.
    if (data === undefined) throw accessDenied();
    const { row, content } = token;
    const fingerprint = present.fingerprint(token, transform);
    return {
      id: row.id,
      type: content.type,
      data,
      metadata: content.metadata ?? {},
      containers: content.containers,
      ...(fingerprint !== undefined && { fingerprint }),
      created_at: formatDate(row.created_at.getTime()),
    };
  }

  return async function detokenize(principal: Principal, act: Act, body: Json): Promise<Json> {
    const found = findExpressions(body);
    const budget = createBudget();
    const named = found.map((each) => ({ text: each.text, ids: referencesOf(expressions, each, budget) }));
    const ids = [...new Set(named.flatMap((each) => each.ids))];
    if (ids.length > options.tokensPerRequestMax) throw tooManyTokens(options.tokensPerRequestMax);
    const rows = await findAll(principal, act, ids);
    const refusals = createRefusals(database, act);
    const present = createPresent(options, () => budget, act);
    const viewsOf = (tokens: readonly OpenRow[], by = present) =>
      new Map(tokens.map((token) => [token.row.id, viewOf(by, principal, act, token)]));
    const noting = <T>(evaluate: () => T): T => refusals.noting(() => namingField(pathOfAll(found), evaluate));
    const resultOf = (text: string, views: ReadonlyMap<string, TokenView>): Json =>
      expressions.evaluateWithTokens(text, views, budget) ?? null;

    async function evaluateAll(): Promise<Json[]> {
      const small = rows.filter((row) => !isLarge(row));
      const bytes = rows.reduce((sum, row) => sum + sealedBytesOf(row), 0);
      if (small.length === rows.length && bytes <= PIECE_BYTES_MAX) {
        if (bytes > FREE_BYTES_MAX) await takeRoom(options.largeWork, principal.tenantId, act, bytes * OPENED_TIMES);
        const views = viewsOf(await opener.open(principal.tenantId, small));
        return noting(() => found.map(({ text }) => resultOf(text, views)));
      }
      // Looking at masks before the expressions must not use up what is theirs.
      const first = createPresent(options, createBudget, act);
      return evaluateLarge(options, {
        principal,
        act,
        rows,
        expressions: named,
        budget,
        noting,
        check: (token) => void viewsOf([token], first),
        viewsOf,
        evaluate: resultOf,
      });
    }

    const tokens = rows.map(placed);
    let values: Json[];
    try {
      values = await evaluateAll();
    } catch (error) {
      throw await refusals.logged(tokens, error);
    }
    const answer = rebuildWith(body, values);
    if (tokens.length > 0) {
      await database.write(principal.tenantId, (tx) => recordTouched(tx, act, 'token_detokenized', tokens));
    }
    return answer;
  };
}

function referencesOf(expressions: Expressions, { path, text }: FoundExpression, budget: Budget): string[] {
  return namingField(path, () => [...new Set(expressions.referencesOf(text, budget).map(({ id }) => id))]);
}

/** What the tokens hold decides which of several expressions fails, so a refusal does not tell which it was. */
function pathOfAll(found: readonly FoundExpression[]): string {
  return found.length === 1 && found[0] ? found[0].path : '$';
}

/** A failed expression is about the place in the body where it stands. */
function namingField<T>(path: string, evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_expression') throw error;
    throw new AppError('invalid_expression', error.message, { errors: { [path]: [error.message] }, cause: error });
  }
}
