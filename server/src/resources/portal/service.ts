import type { GivenRole } from '../../access/roles.js';
import type { AuditContext } from '../../audit/entry.js';
import { assert } from '../../kernel/assert.js';
import type { Clock } from '../../kernel/clock.js';
import { formatDate } from '../../kernel/dates.js';
import { AppError, validationFailed } from '../../kernel/errors.js';
import { isUuid, newId } from '../../kernel/ids.js';
import { createKeyedLock } from '../../kernel/keyed-lock.js';
import { parseUrl } from '../../kernel/parse-url.js';
import type { IdentityRow } from '../../people/oidc/queries.js';
import type { Voucher } from '../../people/oidc/user-identities.js';
import type { FoundPasskeyRow } from '../../people/passkeys/queries.js';
import type { Membership, People } from '../../people/people.js';
import { notSignedIn } from '../../people/sessions/not-signed-in.js';
import type { SignedIn } from '../../people/sessions/portal-sessions.js';
import type { Entered, Visitor } from '../../people/sign-in/entrance.js';
import { findAddressOf } from '../../people/users/address-queries.js';
import type { UserRow } from '../../people/users/queries.js';
import { listOwnedTenants } from '../../people/users/queries.js';
import type { Database } from '../../storage/database.js';
import type { InvitationLinks } from '../invitations/index.js';
import type { MemberBody, MembersOptions } from '../members/index.js';
import { createOwnMembership, findMember, makeOwnerOfOlderTenants } from '../members/index.js';
import type { TenantBody, TenantMaker, Tenants, TransferOwnership } from '../tenants/index.js';
import { createTenant, TENANT_EVENTS } from '../tenants/index.js';
import type { Gained } from './calls/gained-rights.js';
import { gainRights } from './calls/gained-rights.js';
import { createInvited, notVerified } from './calls/invited.js';
import { createMemberList } from './calls/member-list.js';
import type { OwnTenantOptions } from './calls/own-tenant.js';
import { ownTenant } from './calls/own-tenant.js';
import type { TenantSignInRules } from './calls/sign-in-rules.js';
import { createTenantSignInRules } from './calls/sign-in-rules.js';
import type {
  InvitationPreviewBody,
  PortalFactors,
  PortalMe,
  PortalSessionList,
  PortalUser,
  RegisterBody,
  SetUpBody,
  SetUpPasskeyBody,
} from './schema.js';

/** Each has keys of its own. The operator makes as many as it likes. Processes count apart in the same moment. */
const OWNED_TENANTS_MAX = 20;

export interface PortalOptions extends MembersOptions, OwnTenantOptions {
  readonly database: Database;
  readonly people: People;
  readonly tenants: Tenants;
  readonly clock: Clock;
  readonly invitationLinks: InvitationLinks;
  readonly tenantMaker: () => Promise<TenantMaker>;
  readonly transferOwnership: TransferOwnership;
}

type PasskeyCreation = Awaited<ReturnType<People['passkeys']['newcomerOptions']>>;

/** Who is signed in, with the browser. */
export interface SignedInVisit {
  readonly signedIn: SignedIn;
  readonly visitor: Visitor;
}

/** What the pages of the Portal do for people. */
export interface Portal {
  setUp(given: SetUpBody, visitor: Visitor, auditContext: AuditContext): Promise<Entered>;
  readonly signInRules: TenantSignInRules;
  readonly members: ReturnType<typeof createMemberList>;
  me(signedIn: SignedIn): Promise<PortalMe>;
  factors(signedIn: SignedIn): Promise<PortalFactors>;
  sessions(signedIn: SignedIn): Promise<PortalSessionList>;
  endSession(signedIn: SignedIn, id: string | undefined): Promise<void>;
  createTenant(by: SignedInVisit, name: string, auditContext: AuditContext): Promise<Gained<TenantBody>>;
  /** The owner gives the tenant to another member, and is an ADMIN from then on. */
  giveAway(
    signedIn: SignedIn,
    tenantId: string | undefined,
    memberId: string,
    auditContext: AuditContext,
  ): Promise<void>;
  leave(signedIn: SignedIn, tenantId: string | undefined, auditContext: AuditContext): Promise<void>;
  previewInvitation(secret: string, nowMs: number): Promise<InvitationPreviewBody>;
  acceptInvitation(by: SignedInVisit, secret: string, auditContext: AuditContext): Promise<Gained<MemberBody>>;
  setUpPasskeyOptions(given: SetUpPasskeyBody): Promise<PasskeyCreation>;
  registrationPasskeyOptions(secret: string, nowMs: number): Promise<PasskeyCreation>;
  /** A newcomer: an account for the address that was invited, and the membership with it. */
  register(given: RegisterBody, visitor: Visitor, auditContext: AuditContext): Promise<Entered>;
  /** The same for one whom an issuer vouches for. */
  registerVouched(secret: string, voucher: Voucher, visitor: Visitor, auditContext: AuditContext): Promise<Entered>;
}

export function createPortal(options: PortalOptions): Portal {
  return {
    signInRules: createTenantSignInRules(options),
    members: createMemberList(options),
    ...accountsOf(options),
    ...sessionsOf(options),
    ...tenantsOf(options),
    ...invitationsOf(options),
  };
}

function accountsOf(options: PortalOptions): Pick<Portal, 'setUp' | 'setUpPasskeyOptions' | 'me' | 'factors'> {
  const { database, people } = options;
  return {
    async setUp(
      { secret, email, first_name: firstName, last_name: lastName, password, passkey },
      visitor,
      auditContext,
    ) {
      const credential = { password, passkey };
      const ownerId = await people.accounts.setUpOwner(secret);
      // First, so that a set-up that is cut off here leaves a link that still works.
      await makeOwnerOfOlderTenants(database, options.systemKeys.rowMac, ownerId, auditContext.atMs);
      return people.accounts.setUp({ secret, email, credential, firstName, lastName }, visitor);
    },
    async setUpPasskeyOptions({ secret, email }) {
      const id = await people.accounts.setUpOwner(secret);
      return people.passkeys.newcomerOptions({ id, email }, 'set-up');
    },
    async me(signedIn) {
      const [user, memberships, pendingEmail] = await Promise.all([
        people.accounts.profile(signedIn.userId),
        people.memberships(signedIn.userId),
        people.emailChanges.pending(signedIn.userId),
      ]);
      if (!user) throw notSignedIn();
      return {
        user: userBodyOf(user),
        memberships: memberships.map(membershipBodyOf),
        ...(pendingEmail !== undefined && { pending_email: pendingEmail }),
        session: {
          id: signedIn.sessionId,
          signed_in_at: formatDate(signedIn.signedInAtMs),
          expires_at: formatDate(signedIn.expiresAtMs),
          has_second_factor: signedIn.hasSecondFactor,
          ...(signedIn.issuer !== undefined && { issuer_id: signedIn.issuer }),
        },
      };
    },
    async factors({ userId }) {
      const [state, passkeys, identities] = await database.readPeople(async (tx) => [
        await people.factors.state(tx, userId),
        await people.passkeys.list(tx, userId),
        await people.identities.list(tx, userId),
      ]);
      const { authenticatorSinceMs: sinceMs, recoveryCodesLeft } = state;
      return {
        passkeys: passkeys.map(passkeyBodyOf),
        identities: identities.map((row) => identityBodyOf(row, people)),
        ...(sinceMs !== undefined && { authenticator: { created_at: formatDate(sinceMs) } }),
        recovery_codes_left: recoveryCodesLeft,
      };
    },
  };
}

function sessionsOf({ database, people }: PortalOptions): Pick<Portal, 'sessions' | 'endSession'> {
  return {
    async sessions({ userId, sessionId }) {
      const rows = await database.readPeople((tx) => people.sessions.list(tx, userId));
      return rows.map((row) => ({
        id: row.id,
        is_current: row.id === sessionId,
        signed_in_at: formatDate(row.signed_in_at.getTime()),
        seen_at: formatDate(row.seen_at.getTime()),
        expires_at: formatDate(row.expires_at.getTime()),
        ...(row.address !== null && { address: row.address }),
        ...(row.agent !== null && { agent: row.agent }),
      }));
    },
    async endSession({ userId }, given) {
      const id = given !== undefined && isUuid(given) ? given.toLowerCase() : undefined;
      const isEnded = id !== undefined && (await database.people((tx) => people.sessions.end(tx, userId, id)));
      if (!isEnded) throw new AppError('not_found', 'There is no such session.');
    },
  };
}

function tenantsOf(options: PortalOptions): Pick<Portal, 'createTenant' | 'giveAway' | 'leave'> {
  const { database } = options;
  const leave = createOwnMembership(options);
  return {
    createTenant: createTenantOf(options),
    async giveAway(signedIn, given, memberId, auditContext) {
      const { tenantId, role } = await ownTenant(options, signedIn, given, {
        ...{ permission: 'tenant:delete', onDenied: TENANT_EVENTS.denied },
        auditContext,
      });
      if (role !== 'OWNER') throw new AppError('permission_denied', 'Only the owner can give a Tenant away.');
      const member =
        isUuid(memberId) && (await database.read(tenantId, (tx) => findMember(tx, memberId.toLowerCase())));
      if (!member) throw validationFailed({ member_id: ['is no member of this Tenant: invite them first'] });
      const heir = await database.readPeople((tx) => findAddressOf(tx, member.user_id));
      if (heir?.is_disabled) throw validationFailed({ member_id: ['is locked out by the operator'] });
      await options.transferOwnership(tenantId, member.user_id, auditContext, signedIn.userId);
    },
    async leave(signedIn, given, auditContext) {
      const tenantId = given !== undefined && isUuid(given) ? given.toLowerCase() : undefined;
      const membership = tenantId && (await options.people.membership(signedIn.userId, tenantId));
      if (!membership) throw new AppError('not_found', 'There is no such Tenant, or you are not a member of it.');
      await options.noteVisit({ ...membership, session: signedIn }, auditContext);
      await leave(membership.tenantId, membership.memberId, auditContext);
    },
  };
}

function createTenantOf(options: PortalOptions): Portal['createTenant'] {
  const { database, people, tenants } = options;
  const inTurn = createKeyedLock();
  const create = (userId: string, name: string, auditContext: AuditContext) =>
    inTurn(userId, async () => {
      const [isVerified, owned] = await database.readPeople((tx) =>
        Promise.all([people.mailbox.isVerified(tx, userId), listOwnedTenants(tx, userId)]),
      );
      if (!isVerified) throw notVerified();
      if (owned.length >= OWNED_TENANTS_MAX) throw tooManyTenants();
      const maker = await options.tenantMaker();
      const tenantId = newId();
      const tenant = { name, ownerId: userId, isNewOwner: false };
      await database.write(tenantId, (tx) => createTenant(tx, maker, auditContext, tenant));
      return tenantId;
    });
  return async (by, name, auditContext) => {
    const { userId } = by.signedIn;
    const tenantId = await create(userId, name, auditContext);
    const membership = await people.membership(userId, tenantId);
    assert(membership !== undefined, 'whoever makes a tenant owns it');
    const { memberId } = membership;
    return gainRights(options, by, { tenantId, memberId, body: await tenants.get(tenantId) }, auditContext);
  };
}

function tooManyTenants(): AppError {
  const story = `you own ${OWNED_TENANTS_MAX} Tenants already: delete one, or give one away, first`;
  return validationFailed({ $: [story] });
}

function invitationsOf(
  options: PortalOptions,
): Pick<
  Portal,
  'previewInvitation' | 'acceptInvitation' | 'registrationPasskeyOptions' | 'register' | 'registerVouched'
> {
  const { people, invitationLinks, tenants } = options;
  const invited = createInvited(options);
  return {
    async previewInvitation(secret, nowMs) {
      const { tenantId, email, role } = await invitationLinks.preview(secret, nowMs);
      const { name } = await tenants.get(tenantId);
      return { tenant_name: name, email, role: role as GivenRole }; // Its MAC was checked: only these are ever written.
    },
    async acceptInvitation(by, secret, auditContext) {
      const user = await people.accounts.soundProfile(by.signedIn.userId);
      if (!user) throw notSignedIn();
      const body = await invited.accept(by.signedIn, user, secret, auditContext);
      return gainRights(options, by, { tenantId: body.tenant_id, memberId: body.id, body }, auditContext);
    },
    async registrationPasskeyOptions(secret, nowMs) {
      const { email } = await invitationLinks.preview(secret, nowMs);
      return people.passkeys.newcomerOptions({ id: newId(), email }, 'registration');
    },
    register: ({ secret, first_name: firstName, last_name: lastName, password, passkey }, visitor, auditContext) =>
      invited.register(secret, { firstName, lastName, credential: { password, passkey } }, visitor, auditContext),
    registerVouched: (secret, voucher, visitor, auditContext) =>
      invited.register(
        secret,
        { firstName: undefined, lastName: undefined, credential: { voucher } },
        visitor,
        auditContext,
      ),
  };
}

function membershipBodyOf({ tenantId, tenantName, role, rules }: Membership) {
  const { secondFactorFromMs: fromMs, issuerId } = rules;
  return {
    ...{ tenant_id: tenantId, name: tenantName, role },
    ...(fromMs !== undefined && { second_factor_from: formatDate(fromMs) }),
    ...(issuerId !== undefined && { issuer_id: issuerId }),
  };
}

function passkeyBodyOf(row: FoundPasskeyRow) {
  return {
    id: row.id,
    name: row.name,
    is_synced: row.is_synced,
    created_at: formatDate(row.created_at.getTime()),
    ...(row.used_at && { used_at: formatDate(row.used_at.getTime()) }),
  };
}

/** Named as on its button; by its address where the operator took it away. */
function identityBodyOf(row: IdentityRow, { identities }: People) {
  return {
    id: row.id,
    issuer: identities.issuers().find(({ issuer }) => issuer === parseUrl(row.issuer)?.href)?.name ?? row.issuer,
    created_at: formatDate(row.created_at.getTime()),
    ...(row.used_at && { used_at: formatDate(row.used_at.getTime()) }),
  };
}

export function userBodyOf({ id, email, first_name, last_name, picture }: UserRow): PortalUser {
  return {
    id,
    ...(email !== null && { email }),
    ...(first_name !== null && { first_name }),
    ...(last_name !== null && { last_name }),
    ...(picture !== null && { picture }),
  };
}
