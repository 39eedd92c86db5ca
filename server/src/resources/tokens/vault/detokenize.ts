import { decide } from '../../../access/decide.js';
import type { Principal } from '../../../access/principal.js';
import type { Act } from '../../../audit/entry.js';
import type { Budget } from '../../../expressions/budget.js';
import { createBudget } from '../../../expressions/budget.js';
import type { Expressions, TokenView } from '../../../expressions/expressions.js';
import { formatDate } from '../../../kernel/dates.js';
import { AppError } from '../../../kernel/errors.js';
import type { Json } from '../../../kernel/json.js';
import type { Database } from '../../../storage/database.js';
import type { FoundExpression } from '../input/detokenize.js';
import { findExpressions, rebuildWith } from '../input/detokenize.js';
import { granted, subjectOf } from './answer.js';
import { recordTouched } from './change.js';
import type { Opener, OpenRow } from './open.js';
import { accessDenied } from './open.js';
import type { Fingerprints, Present } from './present.js';
import { createPresent } from './present.js';
import { createRefusals } from './refused.js';
import { tooManyTokens } from './too-many.js';

export interface DetokenizeOptions {
  readonly database: Database;
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly fingerprints: Fingerprints;
  readonly tokensPerRequestMax: number;
}

/** Puts values in place of expressions: all of them, or none. Nothing leaves before it is in the log. */
export function createDetokenize(options: DetokenizeOptions) {
  const { database, opener, expressions } = options;

  async function findAll(principal: Principal, act: Act, ids: readonly string[]): Promise<OpenRow[]> {
    const found = await Promise.all(ids.map((id) => opener.find(principal.tenantId, id, act)));
    const unknown = ids.filter((_, n) => found[n] === undefined);
    if (unknown.length > 0) {
      throw new AppError('unknown_token', `There are no tokens with these ids: ${unknown.join(', ')}.`);
    }
    return found.filter((token) => token !== undefined);
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
    const ids = [...new Set(found.flatMap((expression) => referencesOf(expressions, expression, budget)))];
    if (ids.length > options.tokensPerRequestMax) throw tooManyTokens(options.tokensPerRequestMax);
    const tokens = await findAll(principal, act, ids);
    const present = createPresent(options, () => budget, act);
    const views = new Map(tokens.map((token) => [token.row.id, viewOf(present, principal, act, token)]));
    const refusals = createRefusals(database, act);
    const evaluate = (text: string) => expressions.evaluateWithTokens(text, views, budget) ?? null;
    let values: Json[];
    try {
      values = refusals.noting(() => namingField(pathOfAll(found), () => found.map(({ text }) => evaluate(text))));
    } catch (error) {
      throw await refusals.logged(tokens, error);
    }
    const answer = rebuildWith(body, values);
    if (tokens.length > 0 || act.keepAnswer) {
      await database.write(principal.tenantId, async (tx) => {
        await recordTouched(tx, act, 'token_detokenized', tokens);
        await act.keepAnswer?.(tx, answer);
      });
    }
    return answer;
  };
}

function referencesOf(expressions: Expressions, { path, text }: FoundExpression, budget: Budget): string[] {
  return namingField(path, () => expressions.referencesOf(text, budget).map(({ id }) => id));
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
