/** Keys of Applications in three fresh Tenants, each with what its name says. */
export const KEY_NAMES = [
  /** Every management permission. */
  'management',
  /** tenant:read, log:read and report:read of the same Tenant. */
  'readOnly',
  /** A management Application without any permission the specified endpoints ask for. */
  'unrelated',
  /** A public and a private Application of the same Tenant. */
  'public',
  'private',
  /** Every management permission in another Tenant. */
  'otherTenantManagement',
  /** Every management permission in a Tenant that will be deleted, and a reader there. */
  'disposableManagement',
  'disposableReadOnly',
] as const;

export type Keys = Readonly<Record<(typeof KEY_NAMES)[number], string>>;
