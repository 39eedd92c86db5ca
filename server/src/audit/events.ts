import type { EntityType } from './entity-types.js';

interface EventRow {
  readonly entityType: EntityType;
  readonly operation: string;
  readonly message: string;
}

/**
 * Everything an entry can say. Messages are constants, so no client text and no secret can reach the log through them.
 * A new event is a new row here.
 */
export const EVENTS = {
  tenant_created: { entityType: 'tenant', operation: 'create', message: 'Tenant created' },
  tenant_updated: { entityType: 'tenant', operation: 'update', message: 'Tenant updated' },
  tenant_settings_updated: {
    entityType: 'tenant',
    operation: 'update',
    message: 'Tenant updated, settings changed',
  },
  tenant_retrieved: { entityType: 'tenant', operation: 'read', message: 'Tenant retrieved' },
  tenant_logs_exported: { entityType: 'tenant', operation: 'read', message: 'Logs exported' },
  tenant_denied: { entityType: 'tenant', operation: 'denied', message: 'Request denied' },
  application_created: { entityType: 'application', operation: 'create', message: 'Application created' },
  application_updated: { entityType: 'application', operation: 'update', message: 'Application updated' },
  application_deleted: { entityType: 'application', operation: 'delete', message: 'Application deleted' },
  application_expired: { entityType: 'application', operation: 'delete', message: 'Application expired' },
  application_key_regenerated: {
    entityType: 'application',
    operation: 'regenerate',
    message: 'Application key regenerated',
  },
  application_key_added: { entityType: 'application', operation: 'key_create', message: 'Application key added' },
  application_key_revoked: { entityType: 'application', operation: 'key_delete', message: 'Application key revoked' },
  application_retrieved: { entityType: 'application', operation: 'read', message: 'Application retrieved' },
  application_listed: { entityType: 'application', operation: 'read', message: 'Application listed' },
  application_denied: { entityType: 'application', operation: 'denied', message: 'Request denied' },
  session_created: { entityType: 'session', operation: 'create', message: 'Session created' },
  session_authorized: { entityType: 'session', operation: 'authorize', message: 'Session authorized' },
  session_ended: { entityType: 'session', operation: 'delete', message: 'Session ended' },
  session_denied: { entityType: 'session', operation: 'denied', message: 'Request denied' },
  // Of tokens: the entry carries the token's own type instead of `token`.
  token_created: { entityType: 'token', operation: 'create', message: 'Token created' },
  token_retrieved: { entityType: 'token', operation: 'read', message: 'Token retrieved' },
  token_listed: { entityType: 'token', operation: 'read', message: 'Token listed' },
  token_detokenized: { entityType: 'token', operation: 'read', message: 'Token detokenized' },
  token_refused: { entityType: 'token', operation: 'read', message: 'Token opened, request refused' },
  token_matched: { entityType: 'token', operation: 'read', message: 'Token matched by deduplication' },
  token_found: { entityType: 'token', operation: 'search', message: 'Token found by search' },
  token_updated: { entityType: 'token', operation: 'update', message: 'Token updated' },
  token_cvc_removed: { entityType: 'token', operation: 'update', message: 'Card verification code removed' },
  token_deleted: { entityType: 'token', operation: 'delete', message: 'Token deleted' },
  token_expired: { entityType: 'token', operation: 'delete', message: 'Token expired' },
  token_denied: { entityType: 'token', operation: 'denied', message: 'Request denied' },
} as const satisfies Record<string, EventRow>;

export type EventName = keyof typeof EVENTS;
