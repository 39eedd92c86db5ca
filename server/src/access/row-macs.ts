import type { KeyObject } from 'node:crypto';
import { macEquals, macOf } from '../crypto/keyed-hash.js';
import { NO_RULES } from './grants.js';

/** What of an application row grants rights. Editing any of it in the database makes the row worthless. */
export interface RightsRow {
  readonly tenantId: string;
  readonly id: string;
  readonly type: string;
  readonly permissions: readonly string[];
  /** As stored, to the byte. */
  readonly rules: string;
  readonly expiresAt: Date | null;
}

export function rightsMac(rowMacKey: KeyObject, row: RightsRow): Buffer {
  const { tenantId, id, type, rules, expiresAt, permissions } = row;
  const parts = ['application-rights-2', tenantId, id, type, instantOf(expiresAt), rules, ...[...permissions].sort()];
  return macOf(rowMacKey, parts);
}

export function isRightsMacValid(rowMacKey: KeyObject, row: RightsRow, mac: Buffer): boolean {
  if (macEquals(rightsMac(rowMacKey, row), mac)) return true;
  return row.rules === NO_RULES && macEquals(rightsMacWithoutRules(rowMacKey, row), mac);
}

/** How rows were sealed before there were rules. It vouches for rows without any, and only for those. */
function rightsMacWithoutRules(rowMacKey: KeyObject, row: Omit<RightsRow, 'rules'>): Buffer {
  const { tenantId, id, type, expiresAt, permissions } = row;
  const parts = ['application-rights-1', tenantId, id, type, instantOf(expiresAt), ...[...permissions].sort()];
  return macOf(rowMacKey, parts);
}

/** What ties a key to its Application. */
export interface KeyRow {
  readonly hash: Buffer;
  readonly tenantId: string;
  readonly applicationId: string;
  readonly id: string;
  readonly expiresAt: Date | null;
}

export function keyMac(rowMacKey: KeyObject, row: KeyRow): Buffer {
  const { hash, tenantId, applicationId, id, expiresAt } = row;
  return macOf(rowMacKey, ['api-key-1', hash, tenantId, applicationId, id, instantOf(expiresAt)]);
}

export function isKeyMacValid(rowMacKey: KeyObject, row: KeyRow, mac: Buffer): boolean {
  return macEquals(keyMac(rowMacKey, row), mac);
}

/** What ties a session to its Applications, and what it may do. */
export interface SessionRow {
  readonly hash: Buffer;
  readonly nonceHash: Buffer;
  readonly tenantId: string;
  readonly id: string;
  readonly createdBy: string;
  readonly authorizedBy: string | null;
  /** Null before it was authorized, and in rows older than this column. */
  readonly authorizedKey: string | null;
  readonly permissions: readonly string[];
  readonly rules: string;
  readonly expiresAt: Date;
}

export function sessionMac(rowMacKey: KeyObject, row: SessionRow): Buffer {
  const { authorizedKey, rules, expiresAt, permissions } = row;
  const parts = [...sessionIdentity(row), authorizedKey ?? '', instantOf(expiresAt), rules, ...[...permissions].sort()];
  return macOf(rowMacKey, ['session-2', ...parts]);
}

export function isSessionMacValid(rowMacKey: KeyObject, row: SessionRow, mac: Buffer): boolean {
  if (macEquals(sessionMac(rowMacKey, row), mac)) return true;
  return row.authorizedKey === null && macEquals(sessionMacWithoutKey(rowMacKey, row), mac);
}

/** How rows were sealed before they named a key. It vouches for rows without one, and only for those. */
function sessionMacWithoutKey(rowMacKey: KeyObject, row: SessionRow): Buffer {
  const { rules, expiresAt, permissions } = row;
  const parts = [...sessionIdentity(row), instantOf(expiresAt), rules, ...[...permissions].sort()];
  return macOf(rowMacKey, ['session-1', ...parts]);
}

function sessionIdentity({ hash, nonceHash, tenantId, id, createdBy, authorizedBy }: SessionRow): (string | Buffer)[] {
  return [hash, nonceHash, tenantId, id, createdBy, authorizedBy ?? ''];
}

/** What makes a user a member of a tenant, and in which role. */
export interface MemberRow {
  readonly tenantId: string;
  readonly id: string;
  readonly userId: string;
  readonly role: string;
}

export function memberMac(rowMacKey: KeyObject, { tenantId, id, userId, role }: MemberRow): Buffer {
  return macOf(rowMacKey, ['member-1', tenantId, id, userId, role]);
}

export function isMemberMacValid(rowMacKey: KeyObject, row: MemberRow, mac: Buffer): boolean {
  return macEquals(memberMac(rowMacKey, row), mac);
}

/** Who becomes a member by which secret, and in which role. */
export interface InvitationRow {
  readonly tenantId: string;
  readonly id: string;
  /** As it is written, because mail goes there. */
  readonly email: string;
  readonly emailKey: string;
  readonly role: string;
  readonly secretHash: Buffer;
  readonly expiresAt: Date;
}

export function invitationMac(rowMacKey: KeyObject, row: InvitationRow): Buffer {
  const { tenantId, id, email, emailKey, role, secretHash, expiresAt } = row;
  return macOf(rowMacKey, ['invitation-2', tenantId, id, email, emailKey, role, secretHash, instantOf(expiresAt)]);
}

export function isInvitationMacValid(rowMacKey: KeyObject, row: InvitationRow, mac: Buffer): boolean {
  return macEquals(invitationMac(rowMacKey, row), mac);
}

function instantOf(date: Date | null): string {
  return date === null ? '' : String(date.getTime());
}
