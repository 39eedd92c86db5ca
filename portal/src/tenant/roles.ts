/** What people call the roles. */
export const ROLES = { OWNER: 'Owner', ADMIN: 'Administrator', READ_ONLY: 'Reader' } as const;

export const ROLE_HINTS = {
  OWNER: 'Everything, and deleting the tenant.',
  ADMIN: 'Everything but deleting the tenant.',
  READ_ONLY: 'Reads everything but secrets.',
} as const;

/** Roles that can be given; the owner is made by giving the tenant away. */
export const GIVEN_ROLES = ['ADMIN', 'READ_ONLY'] as const;

export type GivenRole = (typeof GIVEN_ROLES)[number];

export const GIVEN_ROLE_OPTIONS = GIVEN_ROLES.map((value) => ({
  value,
  text: `${ROLES[value]}: ${ROLE_HINTS[value]}`,
}));
