import { defineEvents } from '../../audit/events.js';

export const INVITATION_EVENTS = defineEvents('tenant_invitation', {
  created: ['create', 'Invitation created'],
  resent: ['update', 'Invitation resent'],
  accepted: ['accept', 'Invitation accepted'],
  deleted: ['delete', 'Invitation deleted'],
  retrieved: ['read', 'Tenant Invitation retrieved'],
  listed: ['read', 'Tenant Invitation listed'],
  denied: ['denied', 'Request denied'],
});
