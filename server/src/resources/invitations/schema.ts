import type { Static } from 'typebox';
import Type from 'typebox';
import { GIVEN_ROLES } from '../../access/roles.js';
import { OffsetQuery, offsetListOf } from '../../http/paging/pages.js';
import { DateTime, ERROR_MESSAGE, named, text, Uuid } from '../../http/routes/schema.js';
import { EMAIL_LENGTH_MAX, EMAIL_PATTERN } from '../../people/email.js';
import { GivenRoleName } from '../members/index.js';

const STATUSES = ['PENDING', 'EXPIRED'] as const;

export const InvitationBody = named('Invitation', {
  id: Uuid,
  tenant_id: Uuid,
  email: Type.String(),
  role: Type.Enum([...GIVEN_ROLES]),
  status: Type.Enum([...STATUSES]),
  expires_at: DateTime,
  created_by: Type.Optional(Uuid),
  created_at: DateTime,
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
});

export const InvitationWithLinkBody = named('InvitationWithLink', {
  ...InvitationBody.properties,
  link: Type.Optional(
    Type.String({ description: 'Only where no mail is sent, and only here: hand it to whom you invited' }),
  ),
});

export const InvitationList = offsetListOf('InvitationList', InvitationBody);

export const InvitationsQuery = Type.Object({
  ...OffsetQuery,
  status: Type.Optional(
    Type.Enum([...STATUSES], {
      description: 'Only with this status',
      [ERROR_MESSAGE]: `must be one of ${STATUSES.join(', ')}`,
    }),
  ),
});

export const InvitationCreate = Type.Object(
  {
    email: text({
      minLength: 1,
      maxLength: EMAIL_LENGTH_MAX,
      pattern: EMAIL_PATTERN,
      [ERROR_MESSAGE]: `must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`,
    }),
    role: Type.Optional(Type.Enum([...GIVEN_ROLES], { ...GivenRoleName, default: 'ADMIN' })),
  },
  { title: 'InvitationCreate' },
);

export type InvitationBody = Static<typeof InvitationBody>;
export type InvitationWithLinkBody = Static<typeof InvitationWithLinkBody>;
export type InvitationList = Static<typeof InvitationList>;
export type InvitationsQuery = Static<typeof InvitationsQuery>;
export type InvitationCreate = Static<typeof InvitationCreate>;
