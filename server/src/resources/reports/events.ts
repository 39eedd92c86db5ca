import { defineEvents } from '../../audit/events.js';

/** A report is about the tenant, and has no entity of its own. */
export const REPORT_EVENTS = defineEvents('tenant', { denied: ['denied', 'Request denied'] });
