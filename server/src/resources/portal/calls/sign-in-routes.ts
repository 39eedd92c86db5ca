import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import type { Accounts } from '../../../people/sign-in/accounts.js';
import { PortalUser, SetUpBody, SignInBody, StepUpBody } from '../schema.js';
import type { Portal } from '../service.js';
import { signedInAnswer, signedOutAnswer } from './cookie.js';
import { portalCall, portalPost, signedInOf, visitOf } from './portal-call.js';

export function signInRoutes(portal: Portal, accounts: Accounts): RouteRecord[] {
  return [
    defineRoute({
      ...portalPost('/sign-in', SignInBody),
      portal: 'everybody',
      summary: 'Sign in',
      description: 'Sets the cookie of a session. 401 in the same words for every cause.',
      status: 200,
      response: PortalUser,
      handle: async (request) => {
        const { visitor, signedIn } = visitOf(request);
        const { email, password, one_time_code: code } = request.body;
        const given = { email, password, oneTimeCode: code ?? undefined };
        return signedInAnswer(await accounts.signIn(given, visitor, signedIn));
      },
    }),
    defineRoute({
      ...portalCall,
      method: 'POST',
      path: '/portal/api/sign-out',
      portal: 'signed in',
      summary: 'Sign out',
      description: 'The session ends here and in the browser.',
      status: 204,
      handle: async (request) => {
        await accounts.signOut(signedInOf(request), visitOf(request).visitor);
        return signedOutAnswer();
      },
    }),
    defineRoute({
      ...portalPost('/step-up', StepUpBody),
      portal: 'signed in',
      summary: 'Prove once more who you are',
      description: 'Opens what asks for a fresh sign-in, for 10 minutes. The session gets a new cookie.',
      status: 200,
      response: PortalUser,
      handle: async (request) => {
        const { password, one_time_code: code } = request.body;
        const given = { password, oneTimeCode: code ?? undefined };
        return signedInAnswer(await accounts.stepUp(signedInOf(request), given, visitOf(request).visitor));
      },
    }),
    defineRoute({
      ...portalPost('/set-up', SetUpBody),
      portal: 'everybody',
      summary: 'Set up the owner',
      description: 'By the link that the first start prints; it works once.',
      status: 200,
      response: PortalUser,
      handle: async (request) =>
        signedInAnswer(await portal.setUp(request.body, visitOf(request).visitor, request.auditContext)),
    }),
  ];
}
