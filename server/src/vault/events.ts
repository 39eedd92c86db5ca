import { defineEvents } from '../audit/events.js';

/** What happens to tokens. An entry carries the token's own type instead of `token`. */
export const TOKEN_EVENTS = defineEvents('token', {
  created: ['create', 'Token created'],
  retrieved: ['read', 'Token retrieved'],
  listed: ['read', 'Token listed'],
  detokenized: ['read', 'Token detokenized'],
  refused: ['read', 'Token opened, request refused'],
  matched: ['read', 'Token matched by deduplication'],
  found: ['search', 'Token found by search'],
  searched: ['search', 'Tokens searched'],
  used_in_reactor: ['use', 'Token used in reactor'],
  used_in_proxy: ['use', 'Token used in proxy'],
  previewed_in_proxy: ['use', 'Token previewed in proxy'],
  updated: ['update', 'Token updated'],
  cvc_removed: ['update', 'Card verification code removed'],
  deleted: ['delete', 'Token deleted'],
  expired: ['delete', 'Token expired'],
  denied: ['denied', 'Request denied'],
});
