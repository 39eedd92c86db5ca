import type { KeyObject } from 'node:crypto';
import { macEquals, macOf } from '../crypto/keyed-hash.js';

/** What of an application row grants rights. Editing any of it in the database makes the row worthless. */
export interface RightsRow {
  readonly tenantId: string;
  readonly id: string;
  readonly type: string;
  readonly permissions: readonly string[];
  readonly expiresAt: Date | null;
}

export function rightsMac(rowMacKey: KeyObject, row: RightsRow): Buffer {
  const expires = row.expiresAt === null ? '' : String(row.expiresAt.getTime());
  const permissions = [...row.permissions].sort();
  return macOf(rowMacKey, ['application-rights-1', row.tenantId, row.id, row.type, expires, ...permissions]);
}

export function isRightsMacValid(rowMacKey: KeyObject, row: RightsRow, mac: Buffer): boolean {
  return macEquals(rightsMac(rowMacKey, row), mac);
}

/** What makes a key somebody's. */
export interface KeyRow {
  readonly hash: Buffer;
  readonly tenantId: string;
  readonly applicationId: string;
  readonly id: string;
  readonly expiresAt: Date | null;
}

export function keyMac(rowMacKey: KeyObject, row: KeyRow): Buffer {
  const expires = row.expiresAt === null ? '' : String(row.expiresAt.getTime());
  return macOf(rowMacKey, ['api-key-1', row.hash, row.tenantId, row.applicationId, row.id, expires]);
}

export function isKeyMacValid(rowMacKey: KeyObject, row: KeyRow, mac: Buffer): boolean {
  return macEquals(keyMac(rowMacKey, row), mac);
}
