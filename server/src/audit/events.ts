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
  tenant_denied: { entityType: 'tenant', operation: 'denied', message: 'Request denied' },
  application_created: { entityType: 'application', operation: 'create', message: 'Application created' },
} as const satisfies Record<string, EventRow>;

export type EventName = keyof typeof EVENTS;
