/** Every kind of entity the product can write a log entry about, sorted by value. */
export const ENTITY_TYPES = [
  { display_name: 'Application', value: 'application' },
  { display_name: 'Bank', value: 'bank' },
  { display_name: 'Card', value: 'card' },
  { display_name: 'Card Number', value: 'card_number' },
  { display_name: 'Employer ID Number', value: 'employer_id_number' },
  { display_name: 'Proxy', value: 'proxy' },
  { display_name: 'Reactor', value: 'reactor' },
  { display_name: 'Session', value: 'session' },
  { display_name: 'Social Security Number', value: 'social_security_number' },
  { display_name: 'Tenant', value: 'tenant' },
  { display_name: 'Tenant Invitation', value: 'tenant_invitation' },
  { display_name: 'Tenant Member', value: 'tenant_member' },
  { display_name: 'Token', value: 'token' },
  { display_name: 'US Bank Account Number', value: 'us_bank_account_number' },
  { display_name: 'US Bank Routing Number', value: 'us_bank_routing_number' },
] as const;

export type EntityType = (typeof ENTITY_TYPES)[number]['value'];

export const ENTITY_TYPE_VALUES: readonly EntityType[] = ENTITY_TYPES.map(({ value }) => value);
