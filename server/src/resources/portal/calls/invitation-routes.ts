import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import { MemberBody } from '../../members/index.js';
import { InvitationPreviewBody, PortalUser, RegisterBody, SecretBody } from '../schema.js';
import type { Portal } from '../service.js';
import { signedInAnswer } from './cookie.js';
import { gainedAnswer } from './gained-rights.js';
import { actedBy, portalPost, signedInVisit, visitOf } from './portal-call.js';

export function acceptRoutes(portal: Portal): RouteRecord[] {
  return [
    defineRoute({
      ...portalPost('/invitations/preview', SecretBody),
      portal: 'everybody',
      summary: 'Look at an invitation',
      description: 'What whoever has the link is invited to.',
      status: 200,
      response: InvitationPreviewBody,
      failures: ['not_found'],
      handle: (request) => portal.previewInvitation(request.body.secret, request.auditContext.atMs),
    }),
    defineRoute({
      ...portalPost('/invitations/accept', SecretBody),
      portal: 'signed in',
      summary: 'Accept an invitation',
      description: 'The address of the user must be the one that was invited. The session gets a new cookie.',
      status: 200,
      response: MemberBody,
      failures: ['not_found', 'access_denied', 'already_member'],
      handle: async (request) =>
        gainedAnswer(await portal.acceptInvitation(signedInVisit(request), request.body.secret, actedBy(request))),
    }),
    defineRoute({
      ...portalPost('/invitations/register', RegisterBody),
      portal: 'everybody',
      summary: 'Accept an invitation as a newcomer',
      description: 'Makes an account for the address that was invited, and the membership with it.',
      status: 200,
      response: PortalUser,
      failures: ['not_found'],
      handle: async (request) =>
        signedInAnswer(await portal.register(request.body, visitOf(request).visitor, request.auditContext)),
    }),
  ];
}
