import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import type { Accounts } from '../../../people/sign-in/accounts.js';
import { PasswordBody, PortalMe, PortalSessionList, PortalUser } from '../schema.js';
import type { Portal } from '../service.js';
import { signedInAnswer } from './cookie.js';
import { portalCall, portalPost, signedInOf, visitOf } from './portal-call.js';

export function profileRoutes(portal: Portal, accounts: Accounts): RouteRecord[] {
  const signedIn = { ...portalCall, portal: 'signed in' } as const;
  return [
    defineRoute({
      ...signedIn,
      method: 'GET',
      path: '/portal/api/me',
      summary: 'Who is signed in',
      description: 'The user, its Tenants with its role in each, and this session.',
      status: 200,
      response: PortalMe,
      handle: (request) => portal.me(signedInOf(request)),
    }),
    defineRoute({
      ...portalPost('/password', PasswordBody),
      portal: 'signed in',
      summary: 'Change the password',
      description: 'Every session of the user ends; this browser gets a new one.',
      status: 200,
      response: PortalUser,
      handle: async (request) => {
        const { current_password: password, one_time_code: code, new_password: newPassword } = request.body;
        const current = password === undefined ? undefined : { password, oneTimeCode: code ?? undefined };
        const change = { current, newPassword };
        return signedInAnswer(await accounts.changePassword(signedInOf(request), change, visitOf(request).visitor));
      },
    }),
    defineRoute({
      ...signedIn,
      method: 'GET',
      path: '/portal/api/sessions',
      summary: 'Where the user is signed in',
      description: 'Newest first.',
      status: 200,
      response: PortalSessionList,
      handle: (request) => portal.sessions(signedInOf(request)),
    }),
    defineRoute({
      ...signedIn,
      method: 'DELETE',
      path: '/portal/api/sessions/:id',
      summary: 'End a session of the user',
      description: 'Its cookie opens nothing from then on.',
      status: 204,
      handle: (request) => portal.endSession(signedInOf(request), request.params.id),
    }),
  ];
}
