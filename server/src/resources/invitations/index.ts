import type { Slice } from '../slice.js';
import { INVITATION_EVENTS } from './events.js';
import { invitationRoutes } from './routes.js';
import type { InvitationsOptions } from './service.js';
import { createInvitations } from './service.js';
import { INVITATION_TABLES } from './tables.js';

export type { InvitationLinks } from './accept/accept.js';
export { createInvitationLinks } from './accept/accept.js';
export type { InvitationsOptions } from './service.js';
export { isMailedInvitation } from './stored/invitation.js';

export const invitations: Slice<InvitationsOptions> = {
  name: 'invitations',
  routes: (parts) => invitationRoutes(createInvitations(parts)),
  events: Object.values(INVITATION_EVENTS),
  tables: INVITATION_TABLES,
};
