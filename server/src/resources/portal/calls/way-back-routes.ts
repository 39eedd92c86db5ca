import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import type { People } from '../../../people/people.js';
import {
  EmailConfirmedBody,
  ForgottenBody,
  NewEmailBody,
  ResetBody,
  SecretBody,
  SignInOptionsBody,
} from '../schema.js';
import { portalCall, portalPost, signedInOf, visitOf } from './portal-call.js';

type OfPeople = Pick<People, 'wayBack' | 'emailChanges' | 'hasMail' | 'passkeys' | 'identities'>;

export function wayBackRoutes(people: OfPeople): RouteRecord[] {
  return [...passwordRoutes(people), ...emailRoutes(people)];
}

function passwordRoutes({ wayBack, hasMail, passkeys, identities }: OfPeople): RouteRecord[] {
  return [
    defineRoute({
      ...portalCall,
      method: 'GET',
      path: '/portal/api/sign-in-options',
      portal: 'everybody',
      summary: 'What the sign-in offers',
      description:
        'Whether links can be mailed to people, whether passkeys work at this address, and who else vouches for people.',
      status: 200,
      response: SignInOptionsBody,
      handle: () => ({ mail: hasMail, passkeys: passkeys.areUsable(), issuers: identities.issuers() }),
    }),
    defineRoute({
      ...portalPost('/password/forgotten', ForgottenBody),
      portal: 'everybody',
      summary: 'Ask for a new password',
      description: 'Mails a link to the user of this address. The answer is the same where there is none.',
      status: 202,
      handle: (request) => wayBack.forgotten(request.body.email, visitOf(request).visitor),
    }),
    defineRoute({
      ...portalPost('/password/reset', ResetBody),
      portal: 'everybody',
      summary: 'Set a new password by a link',
      description:
        'The link works once. Every session of the user ends, and none is opened: sign in with the password.',
      status: 204,
      failures: ['not_found'],
      handle: (request) => wayBack.reset(request.body, visitOf(request).visitor),
    }),
  ];
}

function emailRoutes({ emailChanges }: Pick<People, 'emailChanges'>): RouteRecord[] {
  return [
    defineRoute({
      ...portalPost('/email', NewEmailBody),
      portal: 'stepped up',
      summary: 'Ask for another address',
      description: 'Mails a link to the address of the user and one to the new one; both have to be followed.',
      status: 202,
      handle: (request) => emailChanges.ask(signedInOf(request), request.body.email, visitOf(request).visitor),
    }),
    defineRoute({
      ...portalPost('/email/confirm', SecretBody),
      portal: 'everybody',
      summary: 'Confirm a change of an address',
      description: 'By one of the two links. Once both are followed the address is changed.',
      status: 200,
      response: EmailConfirmedBody,
      failures: ['not_found'],
      handle: async (request) => ({
        is_changed: await emailChanges.confirm(request.body.secret, visitOf(request).visitor),
      }),
    }),
  ];
}
