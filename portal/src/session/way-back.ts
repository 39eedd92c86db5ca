import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { call } from '../api/call.js';
import { ApiFault } from '../api/fault.js';
import { queryClient, SESSION_DOUBTED } from '../api/query-client.js';
import { announce } from '../ui/notices.js';
import { useMe } from './use-me.js';

const BASE = '/portal';
/** Pages to which a sign-in may lead back. Nothing else is believed: an address can come from anybody. */
const PAGES = /^\/(?:tenants|account)(?:[/?]|$)/;

/** Where the browser is, for the address of the sign-in. */
export function hereForSignIn(): { readonly to?: string } {
  const here = `${location.pathname.slice(BASE.length)}${location.search}`;
  return PAGES.test(here) ? { to: here } : {};
}

/** Where to go behind a sign-in, if the address says so. */
export function pageBehindSignIn(to: string | undefined): string | undefined {
  if (to === undefined || !PAGES.test(to)) return undefined;
  // With its dots resolved, as the browser would: they could lead out of the pages.
  const { pathname, search } = new URL(`${BASE}${to}`, location.origin);
  return pathname.startsWith(BASE) && PAGES.test(pathname.slice(BASE.length)) ? `${pathname}${search}` : undefined;
}

/** An issuer leads back to the start of the Portal; this tab remembers where it left from. */
const LEFT_FROM = 'strongroom.left-from';

export function rememberWayBack(to: string | undefined = hereForSignIn().to): void {
  if (to !== undefined) sessionStorage.setItem(LEFT_FROM, to);
}

/** Where this tab left for an issuer, once. */
export function takeWayBack(): string | undefined {
  const to = sessionStorage.getItem(LEFT_FROM) ?? undefined;
  sessionStorage.removeItem(LEFT_FROM);
  return pageBehindSignIn(to);
}

/** Leads to the sign-in, and back here behind it, when the session has ended. A wrong password is a refusal as well, and ends nothing. */
export function useEndedSession(): void {
  const navigate = useNavigate();
  useEffect(() => {
    const look = async () => {
      try {
        await call('GET /portal/api/me', {});
      } catch (error) {
        if (!(error instanceof ApiFault) || error.status !== 401) return;
        const search = hereForSignIn();
        announce({
          id: 'session-ended',
          tone: 'warn',
          text: 'Your session has ended. To keep what you typed, sign in again in another tab.',
        });
        queryClient.clear();
        await navigate({ to: '/sign-in', search });
      }
    };
    const onDoubt = () => void look();
    addEventListener(SESSION_DOUBTED, onDoubt);
    return () => removeEventListener(SESSION_DOUBTED, onDoubt);
  }, [navigate]);
}

/** Somebody else signed in in another tab: what stands here is not theirs, and what they do here would be done in their name. */
export function useSamePerson(): void {
  const { data: me } = useMe();
  const first = useRef<string>(undefined);
  const id = me?.user.id;
  useEffect(() => {
    if (id === undefined) return;
    first.current ??= id;
    if (first.current !== id) location.assign(`${BASE}/tenants`);
  }, [id]);
}
