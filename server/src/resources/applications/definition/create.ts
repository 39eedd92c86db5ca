import { generateApiKey } from '../../../access/api-key.js';
import type { RuleDraft } from '../../../access/check-rules.js';
import { checkRights } from '../../../access/check-rules.js';
import { rulesText } from '../../../access/grants.js';
import type { ApplicationType } from '../../../access/permissions.js';
import { keyMac, rightsMac } from '../../../access/row-macs.js';
import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { hashApiKey } from '../../../crypto/keyed-hash.js';
import type { SystemKeys } from '../../../crypto/system-keys.js';
import { validationFailed } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { Secret } from '../../../kernel/secret.js';
import type { TenantTx } from '../../../storage/scope.js';
import { APPLICATION_EVENTS } from '../events.js';
import type { ApiKeyRow } from '../keys/queries.js';
import { insertApiKey } from '../keys/queries.js';
import type { ApplicationRow } from '../queries.js';
import { insertApplication } from '../queries.js';
import type { Definition } from './definition.js';

export interface NewApplication {
  readonly name: string;
  readonly type: ApplicationType;
  readonly permissions: readonly string[];
  readonly rules?: readonly RuleDraft[] | undefined;
  /** A key chosen beforehand; a fresh one is made without it. */
  readonly presetKey?: Secret<string> | undefined;
}

export interface CreatedApplication {
  readonly id: string;
  readonly key: Secret<string>;
}

/** Makes an Application and its key inside the caller's transaction. The key is shown by the caller, once. */
export async function createApplication(
  tx: TenantTx,
  systemKeys: SystemKeys,
  auditContext: AuditContext,
  application: NewApplication,
): Promise<CreatedApplication> {
  const { name, type, permissions, rules = [], presetKey } = application;
  const checked = checkRights(type, { permissions, rules });
  if ('errors' in checked) throw validationFailed(checked.errors);
  const { id } = await storeApplication(tx, systemKeys, auditContext, {
    name,
    type,
    ...checked.rights,
    expiresAt: null,
  });
  const key = presetKey ?? generateApiKey(type);
  await storeKey(tx, systemKeys, auditContext, id, key);
  return { id, key };
}

/** Writes an Application whose definition was checked, with its log entry. It has no key yet. */
export async function storeApplication(
  tx: TenantTx,
  systemKeys: SystemKeys,
  auditContext: AuditContext,
  definition: Definition,
): Promise<ApplicationRow> {
  const row = sealed(systemKeys, {
    tenant_id: tx.tenantId,
    id: newId(),
    name: definition.name,
    type: definition.type,
    permissions: definition.permissions,
    rules: rulesText(definition.rules),
    expires_at: definition.expiresAt,
    created_by: auditContext.actor?.id ?? null,
    created_at: new Date(auditContext.atMs),
    modified_by: null,
    modified_at: null,
  });
  await insertApplication(tx, row);
  await record(tx, auditContext, { event: APPLICATION_EVENTS.created, entityId: row.id, outcome: 'success' });
  return row;
}

/** Puts the seal over what grants rights. */
export function sealed({ rowMac }: SystemKeys, row: Omit<ApplicationRow, 'mac'>): ApplicationRow {
  return { ...row, mac: rightsMac(rowMac, rightsOf(row)) };
}

export function rightsOf(row: Omit<ApplicationRow, 'mac'>) {
  const { tenant_id: tenantId, id, type, permissions, rules, expires_at: expiresAt } = row;
  return { tenantId, id, type, permissions, rules, expiresAt };
}

/** Writes a key as the hash it is found by. */
export async function storeKey(
  tx: TenantTx,
  systemKeys: SystemKeys,
  auditContext: AuditContext,
  applicationId: string,
  key: Secret<string>,
): Promise<ApiKeyRow> {
  const hash = hashApiKey(systemKeys.apiKeyPepper, key.reveal());
  const id = newId();
  const mac = keyMac(systemKeys.rowMac, { hash, tenantId: tx.tenantId, applicationId, id, expiresAt: null });
  const row = {
    hash,
    id,
    mac,
    expires_at: null,
    created_by: auditContext.actor?.id ?? null,
    created_at: new Date(auditContext.atMs),
  };
  await insertApiKey(tx, applicationId, row);
  return row;
}
