import { defineEvents } from '../../audit/events.js';

export const PROXY_EVENTS = defineEvents('proxy', {
  created: ['create', 'Proxy created'],
  updated: ['update', 'Proxy updated'],
  restored: ['update', 'Proxy restored'],
  invoked: ['use', 'Proxy invoked'],
  failed: ['use', 'Proxy invocation failed'],
  deleted: ['delete', 'Proxy deleted'],
  retrieved: ['read', 'Proxy retrieved'],
  listed: ['read', 'Proxy listed'],
  denied: ['denied', 'Request denied'],
});
