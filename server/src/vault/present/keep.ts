import type { AuditContext } from '../../audit/entry.js';
import { Overtaken } from '../../storage/faults.js';
import type { TenantTx } from '../../storage/scope.js';
import { FIND_IDS } from '../queries.js';
import { shownIn } from './answer.js';
import type { PresentedToken } from './token-body.js';

/**
 * Keeps an answer that shows tokens. One of them may be taken away in this very transaction, before what is kept could be
 * erased with it: then the request goes again.
 */
export async function keepShowing(
  tx: TenantTx,
  auditContext: AuditContext,
  answer: unknown,
  bodies: readonly PresentedToken[],
): Promise<void> {
  if (!auditContext.keepAnswer) return;
  await auditContext.keepAnswer(tx, answer, shownIn(bodies));
  if (bodies.length === 0) return;
  const keys = bodies.map(({ id }) => ({ tenantId: tx.tenantId, id }));
  const found = await tx.gather(FIND_IDS, keys);
  if (keys.every((key) => found.isLive(key, auditContext.atMs))) return;
  throw new Overtaken('a token that the answer shows went in the same transaction');
}
