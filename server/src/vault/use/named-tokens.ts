import type { Budget } from '../../expressions/budget.js';
import type { Expressions, TokenView } from '../../expressions/expressions.js';
import { formatDate } from '../../kernel/dates.js';
import { AppError } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import type { Opener } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import type { FoundRow } from '../stored/row.js';
import type { NamedExpression } from './detokenize-large.js';
import type { FoundExpression } from './find-expressions.js';

/** Above so many tokens each brings less of its record along. */
const FEW = 8;

/** Expressions with the tokens they name, and all of these, each once and in the order of the body. */
export function namedIn(
  expressions: Expressions,
  found: readonly FoundExpression[],
  budget: Budget,
): { readonly named: readonly NamedExpression[]; readonly ids: readonly string[] } {
  const named = found.map(({ path, text }) => ({
    text,
    ids: namingField(path, () => eachOnce(expressions.referencesOf(text, budget).map(({ id }) => id))),
  }));
  return { named, ids: named.length === 1 ? (named[0]?.ids ?? []) : eachOnce(named.flatMap((each) => each.ids)) };
}

function eachOnce(ids: readonly string[]): readonly string[] {
  return ids.length > 1 ? [...new Set(ids)] : ids;
}

/** One for each id, in their order; undefined where there is none. */
export async function lookForAll(
  opener: Opener,
  tenantId: string,
  ids: readonly string[],
  nowMs: number,
): Promise<(FoundRow | undefined)[]> {
  const look = ids.length > FEW ? opener.lookBriefly : opener.look;
  const [first] = ids;
  if (first !== undefined && ids.length === 1) return [await look(tenantId, first, nowMs)];
  return Promise.all(ids.map((id) => look(tenantId, id, nowMs)));
}

/** A failed expression is about the place in the body where it stands. */
export function namingField<T>(path: string, evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_expression') throw error;
    throw new AppError('invalid_expression', error.message, { errors: { [path]: [error.message] }, cause: error });
  }
}

/** What expressions see of a token, with as much of its data as the caller is shown. */
export function tokenViewOf({ row, content }: OpenRow, data: Json, fingerprint: string | undefined): TokenView {
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

/** In the body of a proxied request data that is a number becomes text; `to_number` makes it a number again. */
export function numberAsText(data: Json): Json {
  return typeof data === 'number' ? String(data) : data;
}
