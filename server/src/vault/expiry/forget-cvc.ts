import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { createBudget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import { AppError } from '../../kernel/errors.js';
import type { OpenRow } from '../open/open-rows.js';
import type { TokenContent } from '../stored/content.js';
import { sealContent } from '../stored/seal.js';
import { dataTerm, joinTerms, metadataTerm, splitTerms } from '../stored/terms.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import { withoutCvc } from '../types/cvc.js';

/** The token without its verification code, nor any hash made of it: a hash of three digits is no secret. */
export function forgetCvc(keys: TenantKeys, expressions: Expressions, { row, content }: OpenRow): OpenRow {
  const changed: TokenContent = { ...content, data: withoutCvc(content.data) };
  const rowKey = { tenant_id: row.tenant_id, id: row.id, data_version: row.data_version + 1 };
  const evaluate = evaluator(expressions);
  const left = termsLeft(keys, evaluate, changed);
  const terms = joinTerms(splitTerms(row.terms).filter((term) => left.has(term.toString('hex'))));
  const print = content.fingerprintExpression;
  const isPrintLost = print !== undefined && !isSame(evaluate(print, content), evaluate(print, changed));
  const fingerprint = isPrintLost ? null : row.fingerprint;
  return {
    content: changed,
    row: { ...row, ...rowKey, cvc_expires_at: null, fingerprint, terms, sealed: sealContent(keys, rowKey, changed) },
  };
}

type ValueOf = (expression: string, content: TokenContent) => unknown;

/** Each with a budget of its own: what one of them costs must not make another look as if it gave nothing. */
function evaluator(expressions: Expressions): ValueOf {
  return (expression, { data, metadata = {} }) => {
    try {
      return expressions.evaluate(expression, { data, metadata }, createBudget());
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  };
}

/** What gives nothing is like nothing. */
function isSame(before: unknown, after: unknown): boolean {
  return before !== undefined && before !== null && before === after;
}

/** The terms that come out of what is left. Any other may be made of the code. */
function termsLeft(keys: TenantKeys, evaluate: ValueOf, content: TokenContent): ReadonlySet<string> {
  const { searchIndexes, metadata = {}, type, data } = content;
  const values = searchIndexes
    ? searchIndexes.map((expression) => evaluate(expression, content))
    : TOKEN_TYPE_CATALOGUE[type].defaultIndexes(data);
  const terms = values.flatMap((value) =>
    value === undefined || value === null ? [] : [dataTerm(keys, String(value))],
  );
  for (const [key, value] of Object.entries(metadata)) terms.push(metadataTerm(keys, key, value));
  return new Set(terms.map((term) => term.toString('hex')));
}
