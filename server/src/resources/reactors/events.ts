import { defineEvents } from '../../audit/events.js';

export const REACTOR_EVENTS = defineEvents('reactor', {
  created: ['create', 'Reactor created'],
  updated: ['update', 'Reactor updated'],
  restored: ['update', 'Reactor restored'],
  invoked: ['use', 'Reactor invoked'],
  tested: ['use', 'Reactor tested'],
  failed: ['use', 'Reactor invocation failed'],
  deleted: ['delete', 'Reactor deleted'],
  retrieved: ['read', 'Reactor retrieved'],
  listed: ['read', 'Reactor listed'],
  denied: ['denied', 'Request denied'],
});
