import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { Json } from '../../kernel/json.js';
import { paceLarge } from '../../kernel/large-work.js';
import type { GrantedToken } from '../present/answer.js';
import { prepareGranted } from '../present/answer.js';
import { keepShowing } from '../present/keep.js';
import type { MakeOptions } from './create-token.js';
import { makeTokens } from './make.js';
import type { NewToken } from './new-token.js';
import { prepareFor } from './prepare-for.js';
import { writeUnlessTaken } from './taken-ids.js';

/** The tokens that a body asks for, checked, and how its answer is put together. */
export interface TokenizePlan {
  /** In document order. */
  readonly tokens: readonly NewToken[];
  /** Where in the body each of them stands, as errors name it. */
  readonly paths: readonly string[];
  /** The answer: each token in place of its request, or its id in place of a bare value. One body for each token. */
  rebuild(bodies: readonly Json[]): Json;
}

/** Makes all tokens of a plan in one transaction, or none. */
export async function tokenize(
  options: MakeOptions,
  principal: Principal,
  auditContext: AuditContext,
  plan: TokenizePlan,
): Promise<Json> {
  const preparation = await prepareFor(options, principal, auditContext);
  const prefixOf = (n: number) => fieldPrefix(plan.paths[n] ?? '');
  const tokens: GrantedToken[] = [];
  for (const [n, input] of plan.tokens.entries()) {
    const prepared = paceLarge(options.largeWork, principal.tenantId, auditContext.holder, () =>
      prepareGranted(preparation, principal, input, prefixOf(n)),
    );
    tokens.push(prepared instanceof Promise ? await prepared : prepared);
  }
  const prepared = tokens.map(({ token }) => token);
  const admission = options.combinations.allow(principal, auditContext, prepared, prefixOf);
  if (admission) await admission;
  if (tokens.length === 0 && !auditContext.keepAnswer) return plan.rebuild([]);
  return writeUnlessTaken(options.database, principal.tenantId, prepared, auditContext.atMs, async (tx) => {
    const bodies = await makeTokens(tx, options.opener, principal, preparation, tokens);
    // A body has nothing but JSON in it; members without a value are left out where it is written.
    const answer = plan.rebuild(bodies as unknown as readonly Json[]);
    await keepShowing(tx, auditContext, answer, bodies);
    return answer;
  });
}

function fieldPrefix(path: string): string {
  return path === '' ? '' : `${path}.`;
}
