import { defineEvents } from '../../audit/events.js';

export const MEMBER_EVENTS = defineEvents('tenant_member', {
  added: ['create', 'Member added'],
  role_changed: ['update', 'Member role changed'],
  removed: ['delete', 'Member removed'],
  signed_in: ['sign_in', 'Signed in to the Portal'],
  retrieved: ['read', 'Tenant Member retrieved'],
  listed: ['read', 'Tenant Member listed'],
  denied: ['denied', 'Request denied'],
});
