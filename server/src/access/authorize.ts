import { AppError } from '../kernel/errors.js';
import type { ApplicationType, Permission } from './permissions.js';
import type { Principal } from './principal.js';

/** What a route asks for: a permission, a kind of key, any valid key, or nothing at all. There is no default. */
export type Requirement = Permission | 'any key' | keyof typeof KEY_OF | 'public';

const KEY_OF = {
  'any application key': undefined,
  'public application key': 'public',
  'private application key': 'private',
} as const;

export function authorize(principal: Principal, requirement: Requirement): void {
  if (requirement === 'any key' || requirement === 'public') return;
  if (isAboutKeys(requirement)) requireApplication(principal, KEY_OF[requirement]);
  else requirePermission(principal, requirement);
}

function isAboutKeys(requirement: Requirement): requirement is keyof typeof KEY_OF {
  return Object.hasOwn(KEY_OF, requirement);
}

function requirePermission(principal: Principal, permission: Permission): void {
  if (principal.permissions.has(permission)) return;
  const holder = principal.actor.type === 'session' ? 'session' : 'Application';
  throw new AppError(
    'permission_denied',
    `This request needs the permission ${permission}, which the ${holder} does not hold.`,
  );
}

/** Some routes are for Applications themselves; a session's key is none, whoever authorized it. */
function requireApplication(principal: Principal, type: ApplicationType | undefined): void {
  if (principal.actor.type === 'application' && (type === undefined || principal.applicationType === type)) return;
  const wanted = type === undefined ? 'an Application' : `a ${type} Application`;
  throw new AppError('wrong_application_type', `This request needs the key of ${wanted}. Use another key.`);
}
