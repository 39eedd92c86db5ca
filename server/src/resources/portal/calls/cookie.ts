import { PORTAL_COOKIE } from '../../../access/portal-cookie-reader.js';
import { WithCookie } from '../../../http/routes/route.js';
import { DEVICE_COOKIE, DEVICE_LIFE_MS } from '../../../people/devices/devices.js';
import { LIFE_MS_MAX } from '../../../people/sessions/portal-sessions.js';
import type { Entered } from '../../../people/sign-in/entrance.js';
import { userBodyOf } from '../service.js';

/** Not for scripts, over TLS or on this machine alone, and never with a request that another site began. */
const RULES = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** Who signed in, the cookie of the session, and the one by which the browser is known. */
export function signedInAnswer(entered: Entered): WithCookie {
  return new WithCookie(userBodyOf(entered.user), ...cookiesOf(entered));
}

/** Of the session, and of the browser where it is known from now on. */
export function cookiesOf({ secret, device }: Pick<Entered, 'secret' | 'device'>): string[] {
  const cookieOf = (name: string, value: string, lifeMs: number) =>
    `${name}=${value}; ${RULES}; Max-Age=${lifeMs / 1_000}`;
  const session = cookieOf(PORTAL_COOKIE, secret.reveal(), LIFE_MS_MAX);
  return device ? [session, cookieOf(DEVICE_COOKIE, device.reveal(), DEVICE_LIFE_MS)] : [session];
}

export function signedOutAnswer(): WithCookie {
  return new WithCookie(undefined, `${PORTAL_COOKIE}=; ${RULES}; Max-Age=0`);
}
