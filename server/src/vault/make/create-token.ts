import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import { assert } from '../../kernel/assert.js';
import type { LargeWork } from '../../kernel/large-work.js';
import { paceLarge } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import { prepareGranted } from '../present/answer.js';
import { keepShowing } from '../present/keep.js';
import type { PresentedToken } from '../present/token-body.js';
import type { Combinations } from './combinations.js';
import { makeTokens } from './make.js';
import type { NewToken } from './new-token.js';
import type { PrepareOptions } from './prepare-for.js';
import { prepareFor } from './prepare-for.js';
import { writeUnlessTaken } from './taken-ids.js';

export interface MakeOptions extends PrepareOptions {
  readonly database: Database;
  readonly combinations: Combinations;
  readonly largeWork: LargeWork;
}

/** Makes one token, or finds the one that stands for it. */
export async function createToken(
  options: MakeOptions,
  principal: Principal,
  auditContext: AuditContext,
  input: NewToken,
): Promise<PresentedToken> {
  const { database, opener, combinations, largeWork } = options;
  const preparation = await prepareFor(options, principal, auditContext);
  const prepared = paceLarge(largeWork, principal.tenantId, auditContext.holder, () =>
    prepareGranted(preparation, principal, input, ''),
  );
  const token = prepared instanceof Promise ? await prepared : prepared;
  const admission = combinations.allow(principal, auditContext, [token.token]);
  if (admission) await admission;
  return writeUnlessTaken(database, principal.tenantId, [token.token], auditContext.atMs, async (tx) => {
    const [answer] = await makeTokens(tx, opener, principal, preparation, [token]);
    assert(answer !== undefined, 'one token has one answer');
    await keepShowing(tx, auditContext, answer, [answer]);
    return answer;
  });
}
