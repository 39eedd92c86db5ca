import { generateApiKey } from '../../access/api-key.js';
import type { ApplicationType, Permission } from '../../access/permissions.js';
import { isPermission, mayHold, permissionsOf } from '../../access/permissions.js';
import { keyMac, rightsMac } from '../../access/row-macs.js';
import type { Act } from '../../audit/entry.js';
import { record } from '../../audit/record.js';
import { hashApiKey } from '../../crypto/keyed-hash.js';
import type { SystemKeys } from '../../crypto/system-keys.js';
import { validationFailed } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { Secret } from '../../kernel/secret.js';
import type { TenantTx } from '../../storage/scope.js';
import { insertApiKey, insertApplication } from './queries.js';

export interface NewApplication {
  readonly name: string;
  readonly type: ApplicationType;
  readonly permissions: readonly string[];
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
  act: Act,
  application: NewApplication,
): Promise<CreatedApplication> {
  const permissions = checkedPermissions(application.type, application.permissions);
  const id = newId();
  const key = application.presetKey ?? generateApiKey(application.type);
  const rights = { tenantId: tx.tenantId, id, type: application.type, permissions, expiresAt: null };
  const createdBy = act.actor?.id;
  const keyRow = {
    hash: hashApiKey(systemKeys.apiKeyPepper, key.reveal()),
    tenantId: tx.tenantId,
    applicationId: id,
    id: newId(),
    expiresAt: null,
  };
  const sealedKey = { ...keyRow, mac: keyMac(systemKeys.rowMac, keyRow) };
  await insertApplication(tx, {
    id,
    name: application.name,
    type: application.type,
    permissions,
    mac: rightsMac(systemKeys.rowMac, rights),
    createdBy,
    createdAtMs: act.atMs,
  });
  await Promise.all([
    insertApiKey(tx, {
      ...sealedKey,
      createdBy,
      createdAtMs: act.atMs,
    }),
    record(tx, act, { event: 'application_created', entityId: id, outcome: 'success' }),
  ]);
  return { id, key };
}

/** Every permission must exist and fit the type. The order of the catalogue is kept, doubles go. */
function checkedPermissions(type: ApplicationType, names: readonly string[]): Permission[] {
  const unknown = names.filter((name) => !isPermission(name));
  const unfit = names.filter(isPermission).filter((name) => !mayHold(type, name));
  const messages = [
    ...unknown.map((name) => `${name} is not a permission`),
    ...unfit.map((name) => `${name} cannot be held by a ${type} application`),
  ];
  if (names.length === 0) messages.push('must name at least one permission');
  if (messages.length > 0) throw validationFailed({ permissions: messages });
  return permissionsOf(type).filter((permission) => names.includes(permission));
}
