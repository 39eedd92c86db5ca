export const APPLICATION_TYPES = ['public', 'private', 'management'] as const;
export type ApplicationType = (typeof APPLICATION_TYPES)[number];

interface PermissionRow {
  readonly type: string;
  readonly description: string;
  readonly application_types: readonly ApplicationType[];
}

function row<T extends string>(type: T, description: string, ...application_types: ApplicationType[]) {
  return { type, description, application_types } as const satisfies PermissionRow;
}

/** The one place a permission is named. The order is the order of the listing. */
export const PERMISSIONS = [
  row('token:create', 'Create tokens', 'public', 'private'),
  row('token:update', 'Update tokens', 'public', 'private'),
  row('token:read', 'Read tokens', 'private'),
  row('token:search', 'Search tokens', 'private'),
  row('token:delete', 'Delete tokens', 'private'),
  row('token:use', "Use tokens in the service's own features (for example Proxy, Reactors)", 'private'),
  row('tenant:read', 'Read Tenants', 'management'),
  row('tenant:update', 'Update Tenants', 'management'),
  row('tenant:delete', 'Delete Tenants', 'management'),
  row('application:read', 'Read Applications', 'management'),
  row('application:create', 'Create Applications', 'management'),
  row('application:update', 'Update Applications and regenerate their API keys', 'management'),
  row('application:delete', 'Delete Applications', 'management'),
  row('log:read', 'Read audit logs', 'management'),
  row('reactor:read', 'Read Reactors', 'management'),
  row('reactor:create', 'Create Reactors', 'management'),
  row('reactor:update', 'Update Reactors', 'management'),
  row('reactor:delete', 'Delete Reactors', 'management'),
  row('proxy:read', 'Read Proxies', 'management'),
  row('proxy:create', 'Create Proxies', 'management'),
  row('proxy:update', 'Update Proxies', 'management'),
  row('proxy:delete', 'Delete Proxies', 'management'),
  row('tenant:member:read', 'Read Tenant members', 'management'),
  row('tenant:member:update', 'Update Tenant members', 'management'),
  row('tenant:member:delete', 'Delete Tenant members', 'management'),
  row('tenant:invitation:create', 'Create Tenant invitations', 'management'),
  row('tenant:invitation:read', 'Read Tenant invitations', 'management'),
  row('tenant:invitation:update', 'Update Tenant invitations', 'management'),
  row('tenant:invitation:delete', 'Delete Tenant invitations', 'management'),
  row('report:read', 'Read reports', 'management'),
] as const;

export type Permission = (typeof PERMISSIONS)[number]['type'];

const BY_NAME: ReadonlyMap<string, (typeof PERMISSIONS)[number]> = new Map(PERMISSIONS.map((p) => [p.type, p]));

export function isPermission(name: string): name is Permission {
  return BY_NAME.has(name);
}

export function mayHold(type: ApplicationType, permission: Permission): boolean {
  const types: readonly ApplicationType[] = BY_NAME.get(permission)?.application_types ?? [];
  return types.includes(type);
}

export function permissionsOf(type: ApplicationType): Permission[] {
  return PERMISSIONS.map((p) => p.type).filter((permission) => mayHold(type, permission));
}

/** Permissions on tokens: the only ones a rule can list and a session can have. */
export function isTokenPermission(permission: Permission): boolean {
  return permission.startsWith('token:');
}
