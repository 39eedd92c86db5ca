import { decide } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import { createBudget } from '../../expressions/budget.js';
import type { Database } from '../../storage/database.js';
import { recordTouched } from '../change/change.js';
import { TOKEN_EVENTS } from '../events.js';
import { known } from '../open/open.js';
import { granted, subjectOf } from '../present/answer.js';
import type { PresentOptions } from '../present/present.js';
import { createPresent } from '../present/present.js';
import type { PresentedToken } from '../present/token-body.js';
import { isLarge } from '../stored/row.js';
import type { LargeReadOptions } from './large-read.js';
import { readLarge } from './large-read.js';

export interface ReadOptions extends LargeReadOptions, PresentOptions {
  readonly database: Database;
}

/** Opens one token for a caller who may read it. */
export async function readToken(
  options: ReadOptions,
  principal: Principal,
  auditContext: AuditContext,
  id: string,
): Promise<PresentedToken> {
  const { database, opener } = options;
  const found = known(await opener.look(principal.tenantId, id, auditContext.atMs));
  if (isLarge(found))
    return readLarge(options, principal, auditContext, found, createPresent(options, createBudget, auditContext));
  const token = known((await opener.open(principal.tenantId, [found]))[0]);
  const transform = granted(decide(principal, 'token:read', subjectOf(token)));
  await database.append(principal.tenantId, (tx) => recordTouched(tx, auditContext, TOKEN_EVENTS.retrieved, [token]));
  return createPresent(options, createBudget, auditContext).body(token, transform, auditContext.atMs);
}
