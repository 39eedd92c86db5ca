import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute, WithCookie } from '../../../http/routes/route.js';
import { AppError } from '../../../kernel/errors.js';
import { isUuid } from '../../../kernel/ids.js';
import type { UserPasskeys } from '../../../people/passkeys/user-passkeys.js';
import { NewPasskeyBody, PasskeySignInBody, PortalUser, SecretBody, SetUpPasskeyBody } from '../schema.js';
import type { Portal } from '../service.js';
import { cookiesOf, signedInAnswer } from './cookie.js';
import { PasskeyCreationOptions, PasskeyRequestOptions } from './passkey-schema.js';
import { portalCall, portalPost, signedInOf, visitOf } from './portal-call.js';

export function passkeyRoutes(portal: Portal, passkeys: UserPasskeys): RouteRecord[] {
  return [...signInByPasskeyRoutes(passkeys), ...ownPasskeyRoutes(passkeys), ...newcomerRoutes(portal)];
}

function signInByPasskeyRoutes(passkeys: UserPasskeys): RouteRecord[] {
  return [
    defineRoute({
      ...portalCall,
      method: 'POST',
      path: '/portal/api/sign-in/passkey/options',
      portal: 'everybody',
      summary: 'Begin to sign in with a passkey',
      description: 'The same for everybody. The challenge is good once, for 5 minutes.',
      status: 200,
      response: PasskeyRequestOptions,
      handle: () => passkeys.signInOptions(),
    }),
    defineRoute({
      ...portalPost('/sign-in/passkey', PasskeySignInBody),
      portal: 'everybody',
      summary: 'Sign in with a passkey',
      description:
        'Sets the cookie of a session that counts as one with a second factor. 401 in the same words for every cause.',
      status: 200,
      response: PortalUser,
      handle: async (request) => {
        const { visitor, signedIn } = visitOf(request);
        return signedInAnswer(await passkeys.signIn(request.body.answer, visitor, signedIn));
      },
    }),
  ];
}

function ownPasskeyRoutes(passkeys: UserPasskeys): RouteRecord[] {
  const steppedUp = { portal: 'stepped up' } as const;
  return [
    defineRoute({
      ...portalCall,
      ...steppedUp,
      method: 'POST',
      path: '/portal/api/passkeys/options',
      summary: 'Begin to add a passkey',
      description: 'The challenge is good once, for 5 minutes.',
      status: 200,
      response: PasskeyCreationOptions,
      handle: (request) => passkeys.optionsFor(signedInOf(request).userId),
    }),
    defineRoute({
      ...portalPost('/passkeys', NewPasskeyBody),
      ...steppedUp,
      summary: 'Add a passkey',
      description: 'The session gets a new cookie.',
      status: 200,
      response: PortalUser,
      handle: async (request) => {
        const { name, answer } = request.body;
        const given = { name, answer };
        return signedInAnswer(await passkeys.add(signedInOf(request), given, visitOf(request).visitor));
      },
    }),
    defineRoute({
      ...portalCall,
      ...steppedUp,
      method: 'DELETE',
      path: '/portal/api/passkeys/:id',
      summary: 'Remove a passkey',
      description:
        'The last thing that the user can sign in with stays. Every session ends; this browser gets a new one.',
      status: 204,
      failures: ['not_found'],
      handle: async (request) => {
        const { id } = request.params;
        if (id === undefined || !isUuid(id)) throw new AppError('not_found', 'There is no such passkey.');
        const entered = await passkeys.remove(signedInOf(request), id.toLowerCase(), visitOf(request).visitor);
        return new WithCookie(undefined, ...cookiesOf(entered));
      },
    }),
  ];
}

function newcomerRoutes(portal: Portal): RouteRecord[] {
  return [
    defineRoute({
      ...portalPost('/set-up/passkey-options', SetUpPasskeyBody),
      portal: 'everybody',
      summary: 'Begin to set up the owner with a passkey',
      description: 'In place of a password.',
      status: 200,
      response: PasskeyCreationOptions,
      failures: ['not_found'],
      handle: (request) => portal.setUpPasskeyOptions(request.body),
    }),
    defineRoute({
      ...portalPost('/invitations/passkey-options', SecretBody),
      portal: 'everybody',
      summary: 'Begin to accept an invitation with a passkey',
      description: 'For a newcomer, in place of a password.',
      status: 200,
      response: PasskeyCreationOptions,
      failures: ['not_found'],
      handle: (request) => portal.registrationPasskeyOptions(request.body.secret, request.auditContext.atMs),
    }),
  ];
}
