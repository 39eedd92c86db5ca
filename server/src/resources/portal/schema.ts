import type { Static } from 'typebox';
import Type from 'typebox';
import { GIVEN_ROLES, MEMBER_ROLES } from '../../access/roles.js';
import { offsetListOf } from '../../http/paging/pages.js';
import { DateTime, dateInput, ERROR_MESSAGE, Name, named, text, Uuid } from '../../http/routes/schema.js';
import { EMAIL_LENGTH_MAX, EMAIL_PATTERN } from '../../people/email.js';
import { MemberBody } from '../members/index.js';

/** As somebody types it: whether it is right says the sign-in, in the same words for every fault. */
const Typed = text({ minLength: 1, maxLength: 1_000, [ERROR_MESSAGE]: 'is required' });
/** Only a new one has to be good; what is wrong with it is said word by word. */
const NewPassword = text({ minLength: 1, maxLength: 1_000, [ERROR_MESSAGE]: 'must have 12 to 200 characters' });
const LinkSecret = text({ minLength: 1, maxLength: 200, [ERROR_MESSAGE]: 'must be what stands behind # in the link' });
const Email = text({
  minLength: 1,
  maxLength: EMAIL_LENGTH_MAX,
  pattern: EMAIL_PATTERN,
  [ERROR_MESSAGE]: `must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`,
});
const Names = { first_name: Type.Optional(Name), last_name: Type.Optional(Name) };

export const PortalUser = named('PortalUser', {
  id: Uuid,
  email: Type.Optional(Type.String()),
  first_name: Type.Optional(Type.String()),
  last_name: Type.Optional(Type.String()),
  picture: Type.Optional(Type.String()),
});

export const PortalMe = named('PortalMe', {
  user: PortalUser,
  memberships: Type.Array(
    named('PortalMembership', {
      tenant_id: Uuid,
      name: Type.String(),
      role: Type.Enum([...MEMBER_ROLES]),
      second_factor_from: Type.Optional(DateTime),
      issuer_id: Type.Optional(Type.String()),
    }),
  ),
  /** An address that the user asked for and that is not confirmed yet. */
  pending_email: Type.Optional(Type.String()),
  session: named('PortalCurrentSession', {
    id: Uuid,
    signed_in_at: DateTime,
    expires_at: DateTime,
    has_second_factor: Type.Boolean(),
    issuer_id: Type.Optional(Type.String()),
  }),
});

export const PortalSessionList = Type.Array(
  named('PortalSession', {
    id: Uuid,
    is_current: Type.Boolean(),
    signed_in_at: DateTime,
    seen_at: DateTime,
    expires_at: DateTime,
    address: Type.Optional(Type.String()),
    agent: Type.Optional(Type.String()),
  }),
);

/** What the user signs in with. */
export const PortalFactors = named('PortalFactors', {
  authenticator: Type.Optional(named('PortalAuthenticator', { created_at: DateTime })),
  recovery_codes_left: Type.Integer(),
  passkeys: Type.Array(
    named('PortalPasskey', {
      id: Uuid,
      name: Type.String(),
      is_synced: Type.Boolean(),
      created_at: DateTime,
      used_at: Type.Optional(DateTime),
    }),
  ),
  identities: Type.Array(
    named('PortalIdentity', {
      id: Uuid,
      issuer: Type.String(),
      created_at: DateTime,
      used_at: Type.Optional(DateTime),
    }),
  ),
});

export const OfferedAuthenticatorBody = named('PortalOfferedAuthenticator', {
  secret: Type.String(),
  uri: Type.String(),
});
export const RecoveryCodesBody = named('PortalRecoveryCodes', { recovery_codes: Type.Array(Type.String()) });

const LackingMember = named('PortalLackingMember', {
  member_id: Uuid,
  user_id: Uuid,
  role: Type.String(),
  email: Type.Optional(Type.String()),
});

/** How members have to sign in, and who of them could not. */
export const SignInRulesBody = named('PortalSignInRules', {
  second_factor_from: Type.Optional(DateTime),
  issuer_id: Type.Optional(Type.String()),
  without_second_factor: Type.Array(LackingMember),
  without_issuer: Type.Array(LackingMember),
});

const PortalMember = named('PortalMember', {
  ...MemberBody.properties,
  has_second_factor: Type.Boolean(),
  seen_at: Type.Optional({ ...DateTime, description: 'When it last acted in the tenant, to the hour' }),
});

export const PortalMemberList = offsetListOf('PortalMemberList', PortalMember);

export const InvitationPreviewBody = named('PortalInvitation', {
  tenant_name: Type.String(),
  email: Type.String(),
  role: Type.Enum([...GIVEN_ROLES]),
});

/** Absent where nobody typed one: whether it is needed is not told before the password is right. */
const OneTimeCode = Type.Optional(
  Type.Union([Type.Null(), text({ maxLength: 100, [ERROR_MESSAGE]: 'must be a text' })]),
);

export const SignInBody = Type.Object({ email: Typed, password: Typed, one_time_code: OneTimeCode });
/** What a browser made of the options; whether it is right says the passkey's own check. */
const PasskeyAnswer = Type.Unknown();
const GivenPasskey = Type.Object({ name: Name, answer: PasskeyAnswer });
/** A password, or a passkey in its place. */
const Chosen = { password: Type.Optional(NewPassword), passkey: Type.Optional(GivenPasskey) };

export const SetUpBody = Type.Object({ secret: LinkSecret, email: Email, ...Chosen, ...Names });
export const RegisterBody = Type.Object({ secret: LinkSecret, ...Chosen, ...Names });
export const SetUpPasskeyBody = Type.Object({ secret: LinkSecret, email: Email });
export const NewPasskeyBody = GivenPasskey;
export const PasskeySignInBody = Type.Object({ answer: PasskeyAnswer });
export const SecretBody = Type.Object({ secret: LinkSecret });
export const StepUpBody = Type.Object({ password: Typed, one_time_code: OneTimeCode });
export const PasswordBody = Type.Object({
  current_password: Type.Optional(Typed),
  one_time_code: OneTimeCode,
  new_password: NewPassword,
});
/** Left out or null: no such rule. */
export const NewSignInRules = Type.Object({
  second_factor_from: Type.Optional(Type.Union([Type.Null(), dateInput({})])),
  issuer_id: Type.Optional(
    Type.Union([Type.Null(), text({ maxLength: 100, [ERROR_MESSAGE]: 'must be an id of an issuer' })]),
  ),
});
export const CodeBody = Type.Object({ code: text({ minLength: 1, maxLength: 100, [ERROR_MESSAGE]: 'is required' }) });
export const NewOwnerBody = Type.Object({
  member_id: text({ minLength: 1, maxLength: 100, [ERROR_MESSAGE]: 'must be the id of a member' }),
});
export const NewTenantBody = Type.Object({ name: Name });

/** What the page of the sign-in can offer. */
export const SignInOptionsBody = named('PortalSignInOptions', {
  mail: Type.Boolean(),
  passkeys: Type.Boolean(),
  issuers: Type.Array(named('PortalIssuer', { id: Type.String(), name: Type.String() })),
});
const IssuerId = text({ minLength: 1, maxLength: 100, [ERROR_MESSAGE]: 'must be the id of an issuer' });
export const LinkIssuerBody = Type.Object({ issuer_id: IssuerId });
/** With the secret of an invitation: to accept it as a newcomer. */
export const BeginOidcBody = Type.Object({ issuer_id: IssuerId, secret: Type.Optional(LinkSecret) });
export const AwayBody = named('PortalAway', { url: Type.String() });
export const ForgottenBody = Type.Object({ email: Typed });
export const ResetBody = Type.Object({ secret: LinkSecret, password: NewPassword });
export const NewEmailBody = Type.Object({ email: Email });
export const EmailConfirmedBody = named('PortalEmailConfirmed', { is_changed: Type.Boolean() });

export type PortalUser = Static<typeof PortalUser>;
export type PortalMe = Static<typeof PortalMe>;
export type PortalSessionList = Static<typeof PortalSessionList>;
export type SetUpPasskeyBody = Static<typeof SetUpPasskeyBody>;
export type SignInRulesBody = Static<typeof SignInRulesBody>;
export type PortalMemberList = Static<typeof PortalMemberList>;
export type NewSignInRules = Static<typeof NewSignInRules>;
export type PortalFactors = Static<typeof PortalFactors>;
export type InvitationPreviewBody = Static<typeof InvitationPreviewBody>;
export type SetUpBody = Static<typeof SetUpBody>;
export type RegisterBody = Static<typeof RegisterBody>;
