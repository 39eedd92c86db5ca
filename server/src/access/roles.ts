import { AppError } from '../kernel/errors.js';
import type { Permission } from './permissions.js';
import { permissionsOf } from './permissions.js';
import type { Principal } from './principal.js';

/** What a user can be in a tenant, the highest first. */
export const MEMBER_ROLES = ['OWNER', 'ADMIN', 'READ_ONLY'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Those that can be given. A tenant has one owner, and ownership is transferred. */
export const GIVEN_ROLES = ['ADMIN', 'READ_ONLY'] as const;
export type GivenRole = (typeof GIVEN_ROLES)[number];

const MANAGEMENT = permissionsOf('management');

const PERMISSIONS_OF: Readonly<Record<MemberRole, ReadonlySet<Permission>>> = {
  OWNER: new Set(MANAGEMENT),
  ADMIN: new Set(MANAGEMENT.filter((permission) => permission !== 'tenant:delete')),
  READ_ONLY: new Set(MANAGEMENT.filter((permission) => permission.endsWith(':read'))),
};

/** The same set for every member of a role. */
export function permissionsOfRole(role: MemberRole): ReadonlySet<Permission> {
  return PERMISSIONS_OF[role];
}

export function isMemberRole(text: string): text is MemberRole {
  return (MEMBER_ROLES as readonly string[]).includes(text);
}

export function isGivenRole(text: string): text is GivenRole {
  return (GIVEN_ROLES as readonly string[]).includes(text);
}

/** Nobody gives rights it does not have, neither with a key nor as a user. */
export function refuseHigherRole({ permissions }: Pick<Principal, 'permissions'>, role: GivenRole): void {
  const missing = [...PERMISSIONS_OF[role]].find((permission) => !permissions.has(permission));
  if (missing === undefined) return;
  throw new AppError(
    'role_not_grantable',
    `Only a role can be given whose permissions the caller holds itself, and ${role} has ${missing}.`,
  );
}
