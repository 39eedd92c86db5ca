import { defineEvents } from '../../audit/events.js';

export const SESSION_EVENTS = defineEvents('session', {
  created: ['create', 'Session created'],
  authorized: ['authorize', 'Session authorized'],
  denied: ['denied', 'Request denied'],
});
