import type { EntityType } from '../../audit/entity-types.js';
import { record } from '../../audit/record.js';
import { isUuid } from '../../kernel/ids.js';
import { codePointLength } from '../../kernel/text.js';
import type { Database } from '../../storage/database.js';
import type { AuditedRequest, AuditRequest } from './runner.js';

/** Full auditing: reads and refusals get an entry of their own, durable before the answer goes out. */
export function createRequestAudit(database: Pick<Database, 'write'>): AuditRequest {
  return async (request) => {
    const { route, principal, auditContext, isDenied } = request;
    const event = isDenied ? route.audit?.onDenied : route.audit?.onRead;
    if (!event) return;
    const entityId = entityIdOf(request);
    const entityType = await entityTypeOf(request, entityId);
    const outcome = isDenied ? 'denied' : 'success';
    const entry = { event, entityId, ...(entityType && { entityType }), outcome } as const;
    await database.write(principal.tenantId, (tx) => record(tx, auditContext, entry));
  };
}

/** Asked whatever the request was refused for: a missing permission is known before anybody has looked at the row. */
async function entityTypeOf(
  { route, principal, auditContext }: AuditedRequest,
  id: string,
): Promise<EntityType | undefined> {
  return id === NO_ENTITY ? undefined : route.audit?.entityTypeOf?.(principal.tenantId, id, auditContext.atMs);
}

const ENTITY_ID_LENGTH_MAX = 400;
const NO_ENTITY = '*';

/** What was refused need not exist: an id no entity can have is not repeated in the log. */
function entityIdOf({ route, params, principal }: AuditedRequest): string {
  const { entityId = NO_ENTITY } = route.audit ?? {};
  if (entityId === 'tenant') return principal.tenantId;
  // A session acts for an Application and has no key of it.
  if (entityId === 'application') return principal.kind === 'application' ? principal.applicationId : NO_ENTITY;
  if (entityId === NO_ENTITY) return NO_ENTITY;
  const given = params[entityId.param] ?? NO_ENTITY;
  if (codePointLength(given) > ENTITY_ID_LENGTH_MAX) return NO_ENTITY;
  return !entityId.isText && isUuid(given) ? given.toLowerCase() : given;
}
