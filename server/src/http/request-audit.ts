import { record } from '../audit/record.js';
import { isUuid } from '../kernel/ids.js';
import { codePointLength } from '../kernel/text.js';
import type { Database } from '../storage/database.js';
import type { AuditedRequest, AuditRequest } from './prepare-route.js';

/** Full auditing: reads and refusals get an entry of their own, durable before the answer goes out. */
export function createRequestAudit(database: Pick<Database, 'write'>): AuditRequest {
  return async (request) => {
    const { route, principal, act, isDenied } = request;
    const event = isDenied ? route.audit?.onDenied : route.audit?.onRead;
    if (!event) return;
    const entityId = entityIdOf(request);
    const outcome = isDenied ? 'denied' : 'success';
    await database.write(principal.tenantId, (tx) => record(tx, act, { event, entityId, outcome }));
  };
}

const ENTITY_ID_LENGTH_MAX = 400;

/** What was refused need not exist: an id no entity can have is not repeated in the log. */
function entityIdOf({ route, params, principal }: AuditedRequest): string {
  const { entityId = '*' } = route.audit ?? {};
  if (entityId === 'tenant') return principal.tenantId;
  if (entityId === '*') return '*';
  const given = params[entityId.param] ?? '*';
  if (codePointLength(given) > ENTITY_ID_LENGTH_MAX) return '*';
  return isUuid(given) ? given.toLowerCase() : given;
}
