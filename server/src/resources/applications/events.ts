import { defineEvents } from '../../audit/events.js';

export const APPLICATION_EVENTS = defineEvents('application', {
  created: ['create', 'Application created'],
  updated: ['update', 'Application updated'],
  deleted: ['delete', 'Application deleted'],
  expired: ['delete', 'Application expired'],
  key_regenerated: ['regenerate', 'Application key regenerated'],
  key_added: ['key_create', 'Application key added'],
  key_revoked: ['key_delete', 'Application key revoked'],
  retrieved: ['read', 'Application retrieved'],
  listed: ['read', 'Application listed'],
  denied: ['denied', 'Request denied'],
});

/** A session lives by keys of Applications, and ends with them. */
export const SESSION_END_EVENTS = defineEvents('session', { ended: ['delete', 'Session ended'] });
