import type { RequestOrigin, UserSessions } from '../access/portal-cookie-reader.js';
import type { User } from '../access/principal.js';
import { permissionsOfRole } from '../access/roles.js';
import type { AuditContext } from '../audit/entry.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { isUuid } from '../kernel/ids.js';
import type { Membership, People } from './people.js';
import { refuseByRules } from './rules/sign-in-rules.js';
import { isFreshSignIn } from './sessions/fresh.js';
import type { SignedIn } from './sessions/portal-sessions.js';

export interface UserSessionsOptions {
  readonly people: Pick<People, 'sessions' | 'membership'>;
  readonly clock: Clock;
  /** Has the first act of a session in a tenant written down. */
  readonly noteVisit: (
    visit: { readonly tenantId: string; readonly memberId: string; readonly session: SignedIn },
    auditContext: AuditContext,
  ) => Promise<void>;
}

/** Users as principals of the tenant API. Nothing is remembered: what ends here has ended everywhere. */
export function createUserSessions({ people, clock, noteVisit }: UserSessionsOptions): UserSessions {
  return {
    async find(secret, tenantId, from) {
      const session = await people.sessions.find(secret);
      if (!session) return undefined;
      if (tenantId === undefined) throw tenantRequired();
      const membership = isUuid(tenantId) ? await people.membership(session.userId, tenantId.toLowerCase()) : undefined;
      if (!membership) throw noSuchTenant();
      const nowMs = clock.nowMs();
      refuseByRules(membership.rules, membership.role, session, nowMs);
      await noteVisit({ ...membership, session }, contextOf(session, from, nowMs));
      return userOf(session, membership, nowMs);
    },
  };
}

function contextOf({ userId }: SignedIn, { sourceAddress, traceId }: RequestOrigin, atMs: number): AuditContext {
  return { actor: { type: 'user', id: userId }, atMs, sourceAddress, traceId };
}

function userOf(session: SignedIn, { tenantId, role }: Membership, nowMs: number): User {
  return {
    ...{ kind: 'user', tenantId, role, sessionId: session.sessionId, grants: [] },
    actor: { type: 'user', id: session.userId },
    permissions: permissionsOfRole(role),
    isFresh: isFreshSignIn(session, nowMs),
  };
}

function tenantRequired(): AppError {
  return new AppError('tenant_required', 'Say with SVC-TENANT-ID which Tenant is meant.');
}

/** Of others and of nobody alike. */
function noSuchTenant(): AppError {
  return new AppError('not_found', 'There is no such Tenant, or you are not a member of it.');
}
