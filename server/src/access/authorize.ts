import { AppError } from '../kernel/errors.js';
import type { ApplicationType, Permission } from './permissions.js';
import { isPermission } from './permissions.js';
import type { Admits, Principal, PrincipalKind } from './principal.js';

/** What a route asks for: permissions, a kind of key, any valid key, or nothing at all. There is no default. */
export type Requirement =
  | Permission
  | keyof typeof EITHER_OF
  | keyof typeof ALL_OF
  | 'any key'
  | keyof typeof KEY_OF
  | 'public';

/** What a route can ask for, by whom it admits: a permission of one who stays unknown, and a door without any, do not compile. */
export type RequirementOf<A extends Admits> = A extends 'anyone' ? 'public' : Exclude<Requirement, 'public'>;

const KEY_OF = {
  'any application key': undefined,
  'public application key': 'public',
  'private application key': 'private',
} as const;

/** Where one of several permissions is enough, and which of them is held decides what the answer shows. */
const EITHER_OF = {
  'token:use or proxy:update': ['token:use', 'proxy:update'],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

/** Where several permissions are needed together. */
const ALL_OF = {
  'tenant:invitation:create and tenant:invitation:update': ['tenant:invitation:create', 'tenant:invitation:update'],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

/** What a route says about who may enter. */
export interface Door {
  readonly permission: Requirement;
  readonly admits: Admits;
  /** A user has to have proved who it is not long ago. */
  readonly stepUp?: true;
}

const HOLDER: Readonly<Record<PrincipalKind, string>> = {
  application: 'Application',
  session: 'session',
  user: 'user',
};

/** Throws a 403 unless the principal is of a kind that the route admits and holds what it asks for. */
export function authorize(principal: Principal, { permission, admits, stepUp }: Door): void {
  if (admits === 'anyone') return;
  const isAdmitted = admits.includes(principal.kind);
  if (permission === 'any key' || permission === 'public') requireKind(isAdmitted);
  else if (isAboutKeys(permission)) requireApplication(principal, isAdmitted, KEY_OF[permission]);
  else requirePermission(principal, isAdmitted, permission);
  if (stepUp && principal.kind === 'user' && !principal.isFresh) throw stepUpRequired();
}

export function stepUpRequired(): AppError {
  return new AppError(
    'step_up_required',
    'This takes a fresh sign-in. Sign in again, then repeat the request within 10 minutes.',
  );
}

/** The permissions a route names, whether one of them is enough or all are needed; none where it asks for something else. */
export function permissionsIn(requirement: Requirement): readonly Permission[] {
  if (isEither(requirement)) return EITHER_OF[requirement];
  if (isAll(requirement)) return ALL_OF[requirement];
  return isPermission(requirement) ? [requirement] : [];
}

function isEither(requirement: Requirement): requirement is keyof typeof EITHER_OF {
  return Object.hasOwn(EITHER_OF, requirement);
}

function isAll(requirement: Requirement): requirement is keyof typeof ALL_OF {
  return Object.hasOwn(ALL_OF, requirement);
}

function isHeld({ permissions }: Principal, requirement: Requirement): boolean {
  const wanted = permissionsIn(requirement);
  if (isAll(requirement)) return wanted.every((permission) => permissions.has(permission));
  return wanted.some((permission) => permissions.has(permission));
}

function isAboutKeys(requirement: Requirement): requirement is keyof typeof KEY_OF {
  return Object.hasOwn(KEY_OF, requirement);
}

function requireKind(isAdmitted: boolean): void {
  if (isAdmitted) return;
  throw new AppError('wrong_application_type', 'This request is not for this kind of key. Use another key.');
}

function requirePermission(principal: Principal, isAdmitted: boolean, requirement: Requirement): void {
  if (isAdmitted && isHeld(principal, requirement)) return;
  throw new AppError(
    'permission_denied',
    `This request needs the permission ${requirement}, which the ${HOLDER[principal.kind]} does not hold.`,
  );
}

/** Some routes are for Applications themselves; a session's key does not count as one. */
function requireApplication(principal: Principal, isAdmitted: boolean, type: ApplicationType | undefined): void {
  const isApplication = isAdmitted && principal.kind === 'application';
  if (isApplication && (type === undefined || principal.applicationType === type)) return;
  const wanted = type === undefined ? 'an Application' : `a ${type} Application`;
  throw new AppError('wrong_application_type', `This request needs the key of ${wanted}. Use another key.`);
}
