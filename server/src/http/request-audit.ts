import { record } from '../audit/record.js';
import type { Database } from '../storage/database.js';
import type { AuditRequest } from './prepare-route.js';

/** Full auditing: reads and refusals get an entry of their own, durable before the answer goes out. */
export function createRequestAudit(database: Database): AuditRequest {
  return async (principal, act, route, isDenied, params) => {
    const event = isDenied ? route.audit?.onDenied : route.audit?.onRead;
    if (!event) return;
    const named = route.audit?.entityId ?? '*';
    const entityId =
      typeof named === 'object' ? (params?.[named.param] ?? '*') : named === 'tenant' ? principal.tenantId : '*';
    const outcome = isDenied ? 'denied' : 'success';
    await database.write(principal.tenantId, (tx) => record(tx, act, { event, entityId, outcome }));
  };
}
