import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute, WithCookie } from '../../../http/routes/route.js';
import type { Secret } from '../../../kernel/secret.js';
import type { Factors } from '../../../people/factors/factors.js';
import { CodeBody, OfferedAuthenticatorBody, PortalFactors, RecoveryCodesBody } from '../schema.js';
import type { Portal } from '../service.js';
import { cookiesOf } from './cookie.js';
import { portalCall, portalPost, signedInOf, visitOf } from './portal-call.js';

const steppedUp = { ...portalCall, portal: 'stepped up' } as const;

function codesBodyOf(codes: readonly Secret<string>[]) {
  return { recovery_codes: codes.map((code) => code.reveal()) };
}

/** What users sign in with beside a password. */
export function factorRoutes(portal: Portal, factors: Factors): RouteRecord[] {
  return [
    ...authenticatorRoutes(factors),
    defineRoute({
      ...portalCall,
      method: 'GET',
      path: '/portal/api/factors',
      portal: 'signed in',
      summary: 'What the user signs in with',
      description: 'Never a secret of it.',
      status: 200,
      response: PortalFactors,
      handle: (request) => portal.factors(signedInOf(request)),
    }),
    defineRoute({
      ...steppedUp,
      method: 'POST',
      path: '/portal/api/recovery-codes',
      summary: 'Make new recovery codes',
      description: 'Shown once. Those of before do not work any more.',
      status: 200,
      response: RecoveryCodesBody,
      failures: ['not_found'],
      handle: async (request) =>
        codesBodyOf(await factors.newRecoveryCodes(signedInOf(request), visitOf(request).visitor)),
    }),
  ];
}

function authenticatorRoutes(factors: Factors): RouteRecord[] {
  return [
    defineRoute({
      ...steppedUp,
      method: 'POST',
      path: '/portal/api/authenticator',
      summary: 'Offer an authenticator',
      description:
        'It counts once its first code is confirmed, within 15 minutes. One that is in use stays until then.',
      status: 200,
      response: OfferedAuthenticatorBody,
      handle: async (request) => {
        const { secret, uri } = await factors.offer(signedInOf(request));
        return { secret: secret.reveal(), uri: uri.reveal() };
      },
    }),
    defineRoute({
      ...portalPost('/authenticator/confirm', CodeBody),
      portal: 'stepped up',
      summary: 'Confirm an authenticator',
      description: 'Shows the recovery codes, once. Every session of the user ends; this browser gets a new one.',
      status: 200,
      response: RecoveryCodesBody,
      failures: ['not_found'],
      handle: async (request) => {
        const { visitor } = visitOf(request);
        const { entered, recoveryCodes } = await factors.confirm(signedInOf(request), request.body.code, visitor);
        return new WithCookie(codesBodyOf(recoveryCodes), ...cookiesOf(entered));
      },
    }),
    defineRoute({
      ...steppedUp,
      method: 'DELETE',
      path: '/portal/api/authenticator',
      summary: 'Remove the authenticator',
      description: 'The recovery codes go with it. Every session of the user ends; this browser gets a new one.',
      status: 204,
      failures: ['not_found'],
      handle: async (request) =>
        new WithCookie(undefined, ...cookiesOf(await factors.remove(signedInOf(request), visitOf(request).visitor))),
    }),
  ];
}
