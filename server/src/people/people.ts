import type { MemberRole } from '../access/roles.js';
import { isMemberRole } from '../access/roles.js';
import { isMemberMacValid } from '../access/row-macs.js';
import type { PasswordHasher } from '../crypto/password-hash.js';
import type { SystemKeys } from '../crypto/system-keys.js';
import type { Clock } from '../kernel/clock.js';
import { storageUnavailable } from '../kernel/errors.js';
import type { Database } from '../storage/database.js';
import { createDevices } from './devices/devices.js';
import type { EmailChanges } from './email-change/email-changes.js';
import { createEmailChanges } from './email-change/email-changes.js';
import type { Factors } from './factors/factors.js';
import { createFactors } from './factors/factors.js';
import { createOneTimeCodes } from './factors/one-time-codes.js';
import type { Links } from './links/links.js';
import { createLinks } from './links/links.js';
import type { Notices, PeopleMail } from './notices/notices.js';
import { createNotices } from './notices/notices.js';
import { wakeAfterCommit } from './notices/wake-after-commit.js';
import { createErrandSeal } from './oidc/errand.js';
import { secondFactorIssuers } from './oidc/issuer-texts.js';
import type { Oidc } from './oidc/oidc.js';
import type { UserIdentities } from './oidc/user-identities.js';
import { createUserIdentities } from './oidc/user-identities.js';
import { createChallenges } from './passkeys/challenges.js';
import { createPasskeys } from './passkeys/passkeys.js';
import type { UserPasskeys } from './passkeys/user-passkeys.js';
import { createUserPasskeys } from './passkeys/user-passkeys.js';
import { loadPasswordPolicy } from './password/policy.js';
import type { SignInRules } from './rules/sign-in-rules.js';
import type { PeopleSecurity } from './security.js';
import type { PortalSessions } from './sessions/portal-sessions.js';
import { createPortalSessions } from './sessions/portal-sessions.js';
import type { MembershipRow } from './sessions/queries.js';
import { findMembership, listMemberships } from './sessions/queries.js';
import type { Accounts } from './sign-in/accounts.js';
import { createAccounts } from './sign-in/accounts.js';
import { createEntrance } from './sign-in/entrance.js';
import { createSignInFailures } from './sign-in/failures.js';
import type { UndoRegistration } from './sign-in/undo-registration.js';
import { createUndoRegistration } from './sign-in/undo-registration.js';
import type { MailboxProof } from './users/mailbox-proof.js';
import { createMailboxProof } from './users/mailbox-proof.js';
import type { MailBounds } from './way-back/mail-bounds.js';
import { createMailBounds } from './way-back/mail-bounds.js';
import { createReplacePassword } from './way-back/new-password.js';
import type { WayBack } from './way-back/way-back.js';
import { createWayBack } from './way-back/way-back.js';

export interface PeopleOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly systemKeys: SystemKeys;
  readonly passwords: PasswordHasher;
  readonly security: PeopleSecurity;
  /** Undefined where nothing can be sent. */
  readonly mail: PeopleMail | undefined;
  /** Where the Portal is, without a slash at the end. Passkeys are bound to it. */
  readonly portalUrl: () => string;
  readonly oidc: Oidc;
}

/** A tenant of a user. */
export interface Membership {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly memberId: string;
  readonly role: MemberRole;
  readonly rules: SignInRules;
}

export interface People {
  readonly accounts: Accounts;
  readonly sessions: PortalSessions;
  readonly links: Links;
  readonly factors: Factors;
  readonly passkeys: UserPasskeys;
  readonly identities: UserIdentities;
  readonly wayBack: WayBack;
  readonly emailChanges: EmailChanges;
  readonly notices: Notices;
  readonly mailbox: MailboxProof;
  readonly mailBounds: MailBounds;
  readonly undoRegistration: UndoRegistration;
  /** Whether people can be written to. */
  readonly hasMail: boolean;
  membership(userId: string, tenantId: string): Promise<Membership | undefined>;
  memberships(userId: string): Promise<readonly Membership[]>;
}

const MEMBERSHIPS_SHOWN_MAX = 1_000;

/** Users, what they sign in with, and their sessions. */
export function createPeople(options: PeopleOptions): People {
  const { clock, systemKeys: keys, security, portalUrl } = options;
  const { database, mail } = wakeAfterCommit(options.database, options.mail);
  const sessions = createPortalSessions({
    ...{ database, clock, keys },
    onSessionAltered: ({ sessionId, userId }) => security.onPeopleAltered({ sessionId, userId }),
  });
  const shared = { database, clock, keys, rowMacKey: keys.rowMac, mail, portalUrl, security };
  const trusted = () => secondFactorIssuers(options.oidc.list());
  const notices = createNotices(shared);
  const entrance = createEntrance({ sessions, notices, devices: createDevices(shared) });
  const links = createLinks({ clock, keys });
  const codes = createOneTimeCodes(shared);
  const failures = createSignInFailures(shared);
  const bounds = createMailBounds(shared);
  const mailbox = createMailboxProof({ ...shared, sessions, notices });
  const replacePassword = createReplacePassword({ clock, links, notices, sessions });
  const ofSignIn = {
    ...{ ...shared, sessions, entrance, links, codes, failures, notices, mailbox, bounds },
    secondFactorIssuers: trusted,
  };
  const passkeys = createUserPasskeys({
    ...ofSignIn,
    passkeys: createPasskeys(options),
    challenges: createChallenges(shared),
  });
  const identities = createUserIdentities({
    ...ofSignIn,
    oidc: options.oidc,
    errands: createErrandSeal(keys.rowMac),
  });
  const credentials = {
    userPasskeys: passkeys,
    identities,
    passwords: options.passwords,
    policy: loadPasswordPolicy(),
  };

  return {
    sessions,
    links,
    passkeys,
    identities,
    notices,
    mailbox,
    mailBounds: bounds,
    undoRegistration: createUndoRegistration(shared),
    hasMail: mail !== undefined,
    factors: createFactors(ofSignIn),
    accounts: createAccounts({ ...options, ...ofSignIn, ...credentials, replacePassword }),
    wayBack: createWayBack({ ...ofSignIn, ...credentials, replacePassword }),
    emailChanges: createEmailChanges({ ...shared, sessions, bounds, links, notices }),
    ...membershipsOf(options),
  };
}

function membershipsOf(options: PeopleOptions): Pick<People, 'membership' | 'memberships'> {
  const { database, systemKeys, security } = options;
  function membershipOf(userId: string, row: MembershipRow): Membership {
    const { tenant_id: tenantId, tenant_name: tenantName, id: memberId, role, mac } = row;
    const isSound = isMemberMacValid(systemKeys.rowMac, { tenantId, id: memberId, userId, role }, mac);
    if (isSound && isMemberRole(role)) return { tenantId, tenantName, memberId, role, rules: rulesOf(row) };
    security.onPeopleAltered({ tenantId, memberId });
    throw storageUnavailable(new Error('a member was changed outside the product'));
  }

  return {
    async membership(userId, tenantId) {
      const row = await database.readPeople((tx) => findMembership(tx, userId, tenantId));
      return row && membershipOf(userId, row);
    },
    async memberships(userId) {
      const rows = await database.readPeople((tx) => listMemberships(tx, userId, MEMBERSHIPS_SHOWN_MAX));
      return rows.map((row) => membershipOf(userId, row));
    },
  };
}

function rulesOf({ second_factor_from: from, sign_in_issuer: issuer }: MembershipRow): SignInRules {
  return { secondFactorFromMs: from?.getTime(), issuerId: issuer ?? undefined };
}
