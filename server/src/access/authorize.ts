import { AppError } from '../kernel/errors.js';
import type { Permission } from './permissions.js';
import type { Principal } from './principal.js';

/** What some routes ask for instead of a permission: a key of an Application, not of a session, at times of one type. */
export type KeyKind = 'any application key' | 'public application key' | 'private application key';

/** What a route asks for: a permission, any valid key, a key of some kind, or nothing at all. There is no default. */
export type Requirement = Permission | 'any key' | KeyKind | 'public';

export function authorize(principal: Principal, requirement: Requirement): void {
  switch (requirement) {
    case 'any key':
    case 'public':
      return;
    case 'any application key':
    case 'public application key':
    case 'private application key':
      authorizeKind(principal, requirement);
      return;
    default:
      if (principal.permissions.has(requirement)) return;
      throw new AppError(
        'permission_denied',
        `This request needs the permission ${requirement}, which the Application does not hold.`,
      );
  }
}

function authorizeKind({ actor, applicationType }: Principal, kind: KeyKind): void {
  const isKind = kind === 'any application key' || kind === `${applicationType} application key`;
  if (actor.type === 'application' && isKind) return;
  throw new AppError('wrong_application_type', `This request is not for this key. Use ${kind}.`);
}
