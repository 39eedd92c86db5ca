import type { KeyObject } from 'node:crypto';
import type { MemberRole } from '../../../access/roles.js';
import type { MemberRow } from '../../../access/row-macs.js';
import { memberMac } from '../../../access/row-macs.js';
import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { formatDate } from '../../../kernel/dates.js';
import { newId } from '../../../kernel/ids.js';
import type { UserRow } from '../../../people/users/queries.js';
import type { TenantTx } from '../../../storage/scope.js';
import { MEMBER_EVENTS } from '../events.js';
import type { StoredMember } from '../queries.js';
import { insertMember } from '../queries.js';
import type { MemberBody } from '../schema.js';

export interface NewMember {
  readonly userId: string;
  readonly role: MemberRole;
}

/** Makes a user a member, inside the caller's transaction and with its entry. Undefined for one who is a member already. */
export async function addMember(
  tx: TenantTx,
  rowMacKey: KeyObject,
  auditContext: AuditContext,
  added: NewMember,
): Promise<StoredMember | undefined> {
  const member = await storeMember(tx, rowMacKey, auditContext, added);
  if (member) await record(tx, auditContext, { event: MEMBER_EVENTS.added, entityId: member.id, outcome: 'success' });
  return member;
}

/** The same without an entry: for the owner, whom the entry of a new tenant stands for. */
export async function storeMember(
  tx: TenantTx,
  rowMacKey: KeyObject,
  auditContext: AuditContext,
  { userId, role }: NewMember,
): Promise<StoredMember | undefined> {
  const id = newId();
  const member: StoredMember = {
    id,
    user_id: userId,
    role,
    mac: memberMac(rowMacKey, { tenantId: tx.tenantId, id, userId, role }),
    created_by: auditContext.actor?.id ?? null,
    created_at: new Date(auditContext.atMs),
    modified_by: null,
    modified_at: null,
  };
  return (await insertMember(tx, member)) ? member : undefined;
}

/** The same member in another role. */
export function memberInRole(
  tenantId: string,
  rowMacKey: KeyObject,
  auditContext: AuditContext,
  { member, role }: { readonly member: StoredMember; readonly role: MemberRole },
): StoredMember {
  return {
    ...member,
    role,
    mac: memberMac(rowMacKey, { ...memberIdentityOf(tenantId, member), role }),
    modified_by: auditContext.actor?.id ?? null,
    modified_at: new Date(auditContext.atMs),
  };
}

/** What of a stored member its MAC is over. */
export function memberIdentityOf(tenantId: string, { id, user_id, role }: StoredMember): MemberRow {
  return { tenantId, id, userId: user_id, role };
}

export function memberBodyOf(tenantId: string, member: StoredMember, user: UserRow | undefined): MemberBody {
  const createdAt = formatDate(member.created_at.getTime());
  return {
    id: member.id,
    tenant_id: tenantId,
    role: member.role as MemberRole, // Its MAC was checked: only roles are ever written.
    user: {
      id: member.user_id,
      ...(user && textIn('email', user.email)),
      ...(user && textIn('first_name', user.first_name)),
      ...(user && textIn('last_name', user.last_name)),
      ...(user && textIn('picture', user.picture)),
    },
    ...(member.created_by !== null && { created_by: member.created_by }),
    created_at: createdAt,
    created_date: createdAt,
    ...(member.modified_by !== null && { modified_by: member.modified_by }),
    ...(member.modified_at !== null && { modified_at: formatDate(member.modified_at.getTime()) }),
  };
}

function textIn<Name extends string>(name: Name, value: string | null): Partial<Record<Name, string>> {
  return value === null ? {} : ({ [name]: value } as Record<Name, string>);
}
