import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { announce } from '../../../storage/changes.js';
import type { TenantTx } from '../../../storage/scope.js';
import { TENANT_EVENTS } from '../events.js';
import type { StoredSignInRules } from './queries.js';
import { setSignInRules } from './queries.js';

/** Says how members have to sign in, inside the caller's transaction. False where the tenant is gone. */
export async function changeSignInRules(
  tx: TenantTx,
  auditContext: AuditContext,
  rules: StoredSignInRules,
): Promise<boolean> {
  const { actor, atMs } = auditContext;
  if (!(await setSignInRules(tx, rules, { modifiedBy: actor?.id, atMs }))) return false;
  const event = TENANT_EVENTS.sign_in_rules_updated;
  await record(tx, auditContext, { event, entityId: tx.tenantId, outcome: 'success' });
  await announce(tx, { kind: 'tenant', tenantId: tx.tenantId });
  return true;
}
