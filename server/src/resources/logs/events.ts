import { defineEvents } from '../../audit/events.js';

/** The log is the tenant's, and has no entity of its own. */
export const LOG_EVENTS = defineEvents('tenant', {
  logs_exported: ['read', 'Logs exported'],
  denied: ['denied', 'Request denied'],
});
