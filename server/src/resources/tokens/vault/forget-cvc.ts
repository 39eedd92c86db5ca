import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import { createBudget } from '../../../expressions/budget.js';
import type { Expressions } from '../../../expressions/expressions.js';
import { AppError } from '../../../kernel/errors.js';
import type { TokenContent } from '../stored/content.js';
import { sealContent } from '../stored/seal.js';
import { dataTerm, joinTerms, splitTerms } from '../stored/terms.js';
import { withoutCvc } from '../types/cvc.js';
import type { OpenRow } from './open.js';

/** The token without its verification code, nor any hash made of it: a hash of three digits is no secret. */
export function forgetCvc(keys: TenantKeys, expressions: Expressions, { row, content }: OpenRow): OpenRow {
  const changed: TokenContent = { ...content, data: withoutCvc(content.data) };
  const place = { tenant_id: row.tenant_id, id: row.id, data_version: row.data_version + 1 };
  const evaluate = evaluator(expressions);
  const lost = lostTerms(keys, evaluate, content, changed);
  const terms = joinTerms(splitTerms(row.terms).filter((term) => !lost.has(term.toString('hex'))));
  const print = content.fingerprintExpression;
  const isPrintLost = print !== undefined && evaluate(print, content) !== evaluate(print, changed);
  const fingerprint = isPrintLost ? null : row.fingerprint;
  return {
    content: changed,
    row: { ...row, ...place, cvc_expires_at: null, fingerprint, terms, sealed: sealContent(keys, place, changed) },
  };
}

type ValueOf = (expression: string, content: TokenContent) => unknown;

function evaluator(expressions: Expressions): ValueOf {
  const budget = createBudget();
  return (expression, { data, metadata = {} }) => {
    try {
      return expressions.evaluate(expression, { data, metadata }, budget);
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  };
}

/** Terms of indexes that give something else, or nothing, once the code is gone. */
function lostTerms(
  keys: TenantKeys,
  evaluate: ValueOf,
  before: TokenContent,
  after: TokenContent,
): ReadonlySet<string> {
  const lost = new Set<string>();
  for (const expression of before.searchIndexes ?? []) {
    const value = evaluate(expression, before);
    if (value === undefined || value === null || value === evaluate(expression, after)) continue;
    lost.add(dataTerm(keys, String(value)).toString('hex'));
  }
  return lost;
}
