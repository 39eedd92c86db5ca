import { stepUpRequired } from '../../access/authorize.js';
import { cookieIn, portalCookieIn } from '../../access/portal-cookie-reader.js';
import type { Clock } from '../../kernel/clock.js';
import { DEVICE_COOKIE } from '../../people/devices/devices.js';
import { ERRAND_COOKIE } from '../../people/oidc/errand.js';
import { isFreshSignIn } from '../../people/sessions/fresh.js';
import { notSignedIn } from '../../people/sessions/not-signed-in.js';
import type { PortalSessions } from '../../people/sessions/portal-sessions.js';
import type { IsOwnOrigin } from '../transport/cross-site.js';
import { refuseCrossSite } from '../transport/cross-site.js';
import type { PortalDoor, PortalVisit } from '../transport/portal-visit.js';
import type { Exchange } from '../transport/respond.js';

export interface PortalEntrance {
  readonly sessions: Pick<PortalSessions, 'find'>;
  readonly isOwnOrigin: IsOwnOrigin;
}

const AGENT_LENGTH_MAX = 300;

/** Lets in who may use a call of the Portal, or ends the request with a 401 or 403. */
export async function admitToPortal(
  { portal: { sessions, isOwnOrigin }, clock }: { readonly portal: PortalEntrance; readonly clock: Clock },
  door: PortalDoor,
  { request, context }: Exchange,
): Promise<PortalVisit> {
  const agent = request.headers['user-agent']?.slice(0, AGENT_LENGTH_MAX);
  const device = cookieIn(request.headers.cookie, DEVICE_COOKIE);
  const visitor = { address: context.sourceAddress, limitKey: context.limitKey, agent, device };
  if (door === 'coming back') {
    return { signedIn: undefined, visitor, kept: cookieIn(request.headers.cookie, ERRAND_COOKIE) };
  }
  refuseCrossSite(request, isOwnOrigin);
  const secret = portalCookieIn(request.headers.cookie);
  const signedIn = secret && (await sessions.find(secret));
  if (door !== 'everybody' && signedIn === undefined) throw notSignedIn();
  if (door === 'stepped up' && signedIn && !isFreshSignIn(signedIn, clock.nowMs())) throw stepUpRequired();
  return { signedIn, visitor };
}
