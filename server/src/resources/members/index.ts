import { MINUTE_MS } from '../../jobs/job-record.js';
import type { Slice } from '../slice.js';
import { MEMBER_EVENTS } from './events.js';
import { memberRoutes } from './routes.js';
import type { MembersOptions } from './service.js';
import { createMembers } from './service.js';
import { MEMBER_TABLES } from './tables.js';
import { sweepVisits } from './visits/sweep.js';

export { MEMBER_EVENTS } from './events.js';
export { makeOwner, makeOwnerOfOlderTenants } from './ownership/owner.js';
export { findMember, findMemberByUser } from './queries.js';
export { GivenRoleName, MemberBody, MembersQuery } from './schema.js';
export type { MembersOptions } from './service.js';
export { createMembers, createOwnMembership } from './service.js';
export type { NewMember } from './stored/member.js';
export { addMember, memberBodyOf, storeMember } from './stored/member.js';
export { listSeen } from './visits/queries.js';
export type { NoteVisit } from './visits/visits.js';
export { createVisits } from './visits/visits.js';

export const members: Slice<MembersOptions> = {
  name: 'members',
  routes: (parts) => memberRoutes(createMembers(parts)),
  events: Object.values(MEMBER_EVENTS),
  tables: MEMBER_TABLES,
  jobs: ({ database }) => [{ name: 'portal-visits', restMs: MINUTE_MS, step: (nowMs) => sweepVisits(database, nowMs) }],
};
