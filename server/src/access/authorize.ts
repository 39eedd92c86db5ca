import { AppError } from '../kernel/errors.js';
import type { Permission } from './permissions.js';
import type { Principal } from './principal.js';

/** What a route asks for: a permission, any valid key, or nothing at all. There is no default. */
export type Requirement = Permission | 'any key' | 'public';

export function authorize(principal: Principal, requirement: Requirement): void {
  if (requirement === 'any key' || requirement === 'public' || principal.permissions.has(requirement)) return;
  throw new AppError(
    'permission_denied',
    `This request needs the permission ${requirement}, which the Application does not hold.`,
  );
}
