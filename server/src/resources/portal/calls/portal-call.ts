import type { TSchema } from 'typebox';
import type { RouteRequest } from '../../../http/routes/route.js';
import type { PortalVisit } from '../../../http/transport/portal-visit.js';
import { assert } from '../../../kernel/assert.js';
import type { SignedIn } from '../../../people/sessions/portal-sessions.js';
import type { SignedInVisit } from '../service.js';
import type { OwnTenantCall } from './own-tenant.js';

const BODY_BYTES_MAX = 65_536;
/** What every call of the Portal's own pages has in common. */
export const portalCall = {
  limits: [],
  tag: 'Portal',
  permission: 'public',
  admits: 'anyone',
  bodyBytesMax: BODY_BYTES_MAX,
} as const;

type Asked<Body> = RouteRequest<unknown, Body, unknown, undefined>;

export function visitOf({ visit }: Pick<Asked<unknown>, 'visit'>): PortalVisit {
  assert(visit !== undefined, 'every call of the Portal has a visit');
  return visit;
}

/** Who is signed in, on calls that let in nobody else. */
export function signedInOf(request: Pick<Asked<unknown>, 'visit'>): SignedIn {
  const { signedIn } = visitOf(request);
  assert(signedIn !== undefined, 'the door lets in only who is signed in');
  return signedIn;
}

/** The same with the browser. */
export function signedInVisit(request: Pick<Asked<unknown>, 'visit'>): SignedInVisit {
  return { signedIn: signedInOf(request), visitor: visitOf(request).visitor };
}

/** What a user does has the user as its actor. */
export function actedBy(request: Pick<Asked<unknown>, 'visit' | 'auditContext'>) {
  return { ...request.auditContext, actor: { type: 'user', id: signedInOf(request).userId } as const };
}

export const portalPost = <B extends TSchema>(path: string, body: B) =>
  ({ ...portalCall, method: 'POST', path: `/portal/api${path}`, body }) as const;

/** For calls whose path names a tenant. */
export function ownTenantCall(request: Pick<Asked<unknown>, 'visit' | 'auditContext' | 'params'>): OwnTenantCall {
  return { signedIn: signedInOf(request), tenantId: request.params.tenant_id, auditContext: actedBy(request) };
}
