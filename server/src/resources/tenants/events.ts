import { defineEvents } from '../../audit/events.js';

export const TENANT_EVENTS = defineEvents('tenant', {
  created: ['create', 'Tenant created'],
  updated: ['update', 'Tenant updated'],
  settings_updated: ['update', 'Tenant updated, settings changed'],
  sign_in_rules_updated: ['update', 'Tenant updated, sign in rules changed'],
  retrieved: ['read', 'Tenant retrieved'],
  denied: ['denied', 'Request denied'],
});
