import type { Static } from 'typebox';
import Type from 'typebox';
import { GIVEN_ROLES, MEMBER_ROLES } from '../../access/roles.js';
import { OffsetQuery, offsetListOf } from '../../http/paging/pages.js';
import { DateTime, ERROR_MESSAGE, named, text, Uuid } from '../../http/routes/schema.js';

const Role = Type.Enum([...MEMBER_ROLES]);

/** A role that can be given. */
export const GivenRoleName = Type.Enum([...GIVEN_ROLES], {
  [ERROR_MESSAGE]: `must be one of ${GIVEN_ROLES.join(', ')}`,
});

const MemberUser = named('MemberUser', {
  id: Uuid,
  email: Type.Optional(Type.String({ description: 'Absent for the first owner before the set-up' })),
  first_name: Type.Optional(Type.String()),
  last_name: Type.Optional(Type.String()),
  picture: Type.Optional(Type.String()),
});

export const MemberBody = named('Member', {
  id: Uuid,
  tenant_id: Uuid,
  role: Role,
  user: MemberUser,
  created_by: Type.Optional(Uuid),
  created_at: DateTime,
  created_date: Type.String({ ...DateTime, description: 'The same as `created_at`' }),
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
});

export const MemberList = offsetListOf('MemberList', MemberBody);

export const MembersQuery = Type.Object({
  ...OffsetQuery,
  user_id: Type.Optional(Type.Array(text({ maxLength: 200 }), { description: 'Only these users' })),
});

export const MemberUpdate = Type.Object({ role: GivenRoleName }, { title: 'MemberUpdate' });

export const RoleBody = named('Role', { name: Role });

export type MemberBody = Static<typeof MemberBody>;
export type MemberList = Static<typeof MemberList>;
export type MembersQuery = Static<typeof MembersQuery>;
export type MemberUpdate = Static<typeof MemberUpdate>;
