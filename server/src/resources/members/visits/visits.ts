import type { KeyObject } from 'node:crypto';
import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { macOf } from '../../../crypto/keyed-hash.js';
import type { SystemKeys } from '../../../crypto/system-keys.js';
import { uuidOfBytes } from '../../../kernel/ids.js';
import type { SignedIn } from '../../../people/sessions/portal-sessions.js';
import type { Database } from '../../../storage/database.js';
import { MEMBER_EVENTS } from '../events.js';
import { insertVisit, updateSeen } from './queries.js';

/** A user who acts in a tenant. */
export interface Visit {
  readonly tenantId: string;
  readonly memberId: string;
  readonly session: Pick<SignedIn, 'sessionId' | 'expiresAtMs'>;
}

export type NoteVisit = (visit: Visit, auditContext: AuditContext) => Promise<void>;

export interface VisitsOptions {
  readonly database: Database;
  readonly systemKeys: SystemKeys;
}

/** Visits that need no look into the table. */
const REMEMBERED_MAX = 10_000;
/** How exactly it is known when a member was last seen. */
const SEEN_EVERY_MS = 3_600_000;

/**
 * Writes the first act of a session in a tenant into its log, before anything of the tenant is shown; and once an hour that the
 * member was here.
 */
export function createVisits({ database, systemKeys }: VisitsOptions): NoteVisit {
  const known = new Map<string, number>();
  return async ({ tenantId, memberId, session }, auditContext) => {
    const name = `${tenantId} ${session.sessionId}`;
    const hour = Math.floor(auditContext.atMs / SEEN_EVERY_MS);
    if (known.get(name) === hour) return;
    await database.write(tenantId, async (tx) => {
      const isFirst = await insertVisit(tx, visitIdOf(systemKeys.rowMac, tenantId, session), session.expiresAtMs);
      await updateSeen(tx, memberId, auditContext.atMs);
      if (isFirst)
        await record(tx, auditContext, { event: MEMBER_EVENTS.signed_in, entityId: memberId, outcome: 'success' });
    });
    if (known.size >= REMEMBERED_MAX) known.clear();
    known.set(name, hour);
  };
}

/**
 * The row of a visit has this in place of the session's id. Whoever writes to the database knows the id and not this, and so cannot
 * write a visit beforehand that would keep the first act out of the log.
 */
function visitIdOf(rowMacKey: KeyObject, tenantId: string, { sessionId }: Visit['session']): string {
  return uuidOfBytes(macOf(rowMacKey, ['portal-visit-1', tenantId, sessionId]));
}
