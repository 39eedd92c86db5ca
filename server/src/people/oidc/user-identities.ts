import type { KeyObject } from 'node:crypto';
import { macEquals, macOf } from '../../crypto/keyed-hash.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError, storageUnavailable } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { Secret } from '../../kernel/secret.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { SecondFactorOptions } from '../factors/proven-factor.js';
import { enterAgain, requireProvenFactor } from '../factors/proven-factor.js';
import { findSecondFactor } from '../factors/second-factor-queries.js';
import type { Notices } from '../notices/notices.js';
import { countWaysIn } from '../passkeys/queries.js';
import { lastWayIn } from '../passkeys/user-passkeys.js';
import type { PeopleSecurity } from '../security.js';
import type { PortalSessions, SignedIn } from '../sessions/portal-sessions.js';
import type { Backoff } from '../sign-in/backoff.js';
import type { Entered, Entrance, Proven, Visitor } from '../sign-in/entrance.js';
import { findSignInOf } from '../sign-in/queries.js';
import { holdUser, lockUser } from '../users/lock-queries.js';
import type { MailBounds } from '../way-back/mail-bounds.js';
import type { Errand, ErrandSeal, Kept } from './errand.js';
import type { OidcIdentity } from './identity.js';
import { issuerTexts } from './issuer-texts.js';
import type { Oidc } from './oidc.js';
import type { IdentityRow } from './queries.js';
import { deleteIdentity, findIdentity, insertIdentity, listIdentities, useIdentity } from './queries.js';
import { OIDC_TRANSACTION_MS } from './transaction.js';

/** How somebody came back from an issuer. Whoever is refused is told no more than these words. */
export type Returned =
  | { readonly kind: 'signed in'; readonly entered: Entered }
  | { readonly kind: 'linked' }
  /** A newcomer with a link of an invitation, whose account is yet to be made. */
  | { readonly kind: 'newcomer'; readonly secret: string; readonly voucher: Voucher; readonly visitor: Visitor }
  | { readonly kind: 'refused'; readonly why: 'denied' | 'unknown' | 'taken' | 'too-many' | 'refused' };

/** Somebody for whom an issuer vouches, and what that is worth. */
export interface Voucher {
  readonly identity: OidcIdentity;
  readonly issuerId: string;
  readonly hasSecondFactor: boolean;
}

/** People for whom an issuer of the operator's choice vouches. Issuer and subject name them; an address never does. */
export interface UserIdentities {
  issuers(): ReturnType<Oidc['list']>;
  /** Where to send the browser, and what it keeps meanwhile. */
  begin(
    issuerId: string,
    errand: Errand,
    visitor: Visitor,
  ): Promise<{ readonly url: string; readonly kept: Secret<string> }>;
  /** Both may be anything. */
  finish(kept: Secret<string> | undefined, callbackUrl: string, visitor: Visitor): Promise<Returned>;
  store(tx: PeopleTx, userId: string, identity: OidcIdentity): Promise<boolean>;
  list(tx: PeopleTx, userId: string): Promise<readonly IdentityRow[]>;
  /** The last thing that a user can sign in with stays. */
  remove(signedIn: SignedIn, id: string, visitor: Visitor): Promise<Entered>;
}

export interface UserIdentitiesOptions extends SecondFactorOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly rowMacKey: KeyObject;
  readonly oidc: Oidc;
  readonly errands: ErrandSeal;
  readonly bounds: Pick<MailBounds, 'pass'>;
  readonly sessions: PortalSessions;
  readonly entrance: Entrance;
  readonly notices: Pick<Notices, 'tell'>;
  readonly security: PeopleSecurity;
}

const IDENTITIES_OF_USER_MAX = 20;
/** It is over before it could be used a second time. */
const ONCE: Backoff = { freeFailures: 0, firstDelayMs: OIDC_TRANSACTION_MS, delayMaxMs: OIDC_TRANSACTION_MS };

export function createUserIdentities(options: UserIdentitiesOptions): UserIdentities {
  const { database, oidc, errands, notices, security } = options;
  return {
    issuers: oidc.list,
    async begin(issuerId, errand, { device }) {
      // Whoever is signed in comes to prove it once more: an issuer that remembers the person would prove nothing.
      const asksAgain = errand.kind !== 'register' && errand.sessionId !== undefined;
      const { url, transaction } = await oidc.begin(issuerId, { asksAgain });
      return { url, kept: errands.seal(errand, transaction, device) };
    },
    async finish(kept, callbackUrl, from) {
      const opened = await firstReturn(options, errands.open(kept));
      const found = await oidc.finish(opened?.transaction, callbackUrl);
      const visitor = { ...from, device: opened?.device };
      if (!opened || 'refused' in found) {
        security.onSignIn({ event: 'sign_in_failed', userId: undefined, address: from.address });
        return { kind: 'refused', why: 'refused' in found && found.refused === 'denied' ? 'denied' : 'refused' };
      }
      if (opened.errand.kind === 'link') return link(options, opened.errand, found.identity, visitor);
      if (opened.errand.kind === 'sign-in') return signIn(options, opened.errand, found, visitor);
      return { kind: 'newcomer', secret: opened.errand.secret, voucher: found, visitor };
    },
    store: (tx, userId, identity) => store(options, tx, userId, identity),
    list: (tx, userId) => listIdentities(tx, userId, IDENTITIES_OF_USER_MAX),
    async remove(signedIn, id, visitor) {
      const { userId } = signedIn;
      const entered = await database.people(async (tx) => {
        await requireProvenFactor(options, tx, signedIn);
        const left = await countWaysIn(tx, userId);
        const issuer = await deleteIdentity(tx, userId, id);
        if (issuer === undefined) throw new AppError('not_found', 'There is no such sign-in.');
        if (left <= 1) throw lastWayIn();
        await notices.tell(tx, userId, 'identity_unlinked');
        return enterAgain(options, tx, withoutIssuer(oidc, signedIn, issuer), visitor);
      });
      security.onSignIn({ event: 'identity_unlinked', userId, address: visitor.address });
      return entered;
    },
  };
}

/** What a browser keeps is good once: whoever copied it cannot make us ask the issuer again and again. */
async function firstReturn(
  { database, bounds }: UserIdentitiesOptions,
  kept: Kept | undefined,
): Promise<Kept | undefined> {
  if (!kept) return undefined;
  const count = { kind: 'return from issuer', text: kept.id, backoff: ONCE } as const;
  return (await database.people((tx) => bounds.pass(tx, [count]))) === 0 ? kept : undefined;
}

/** A session that this issuer opened has proven nothing once the identity is gone: neither who vouches nor a second factor. */
function withoutIssuer(oidc: Pick<Oidc, 'list'>, signedIn: SignedIn, issuer: string): SignedIn {
  const opener = oidc.list().find(({ id }) => id === signedIn.issuer);
  const isOther = signedIn.issuer === undefined || (opener !== undefined && !issuerTexts(opener).includes(issuer));
  return isOther ? signedIn : { ...signedIn, issuer: undefined, hasSecondFactor: false };
}

async function signIn(
  options: UserIdentitiesOptions,
  errand: Errand & { kind: 'sign-in' },
  voucher: Voucher,
  visitor: Visitor,
): Promise<Returned> {
  const { database, clock, entrance, security } = options;
  const { identity } = voucher;
  const row = await database.readPeople((tx) => findIdentity(tx, identity.issuer, identity.subject));
  const user = row && (await database.readPeople((tx) => findSignInOf(tx, sound(options, row).user_id)));
  if (!row || !user || user.is_disabled) {
    security.onSignIn({ event: 'sign_in_failed', userId: user?.id, address: visitor.address });
    return { kind: 'refused', why: user ? 'refused' : 'unknown' };
  }
  const entered = await database.people(async (tx) => {
    await holdUser(tx, user.id);
    if (!(await useIdentity(tx, row.id, clock.nowMs()))) return undefined;
    // Whoever's it was: this browser has one session.
    if (errand.userId !== undefined && errand.sessionId !== undefined) {
      await options.sessions.end(tx, errand.userId, errand.sessionId);
    }
    return entrance.enter(tx, provenBy(voucher, user.id), visitor);
  });
  if (!entered) return { kind: 'refused', why: 'unknown' };
  security.onSignIn({ event: 'signed_in', userId: user.id, address: visitor.address });
  return { kind: 'signed in', entered };
}

/** What an issuer proves. When it last asked the person itself is what counts as fresh; one that does not say never is. */
export function provenBy({ identity, issuerId, hasSecondFactor }: Voucher, userId: string): Proven {
  return { userId, hasSecondFactor, issuer: issuerId, provenAtMs: identity.authenticatedAtMs ?? 0 };
}

async function link(
  options: UserIdentitiesOptions,
  { userId, sessionId }: Errand & { kind: 'link' },
  identity: OidcIdentity,
  visitor: Visitor,
): Promise<Returned> {
  const { database, sessions, notices, security } = options;
  const why = await database.people(async (tx) => {
    // Of two at the same time the second counts the first.
    await lockUser(tx, userId);
    const session = await sessions.hold(tx, { userId, sessionId });
    if (!session) return 'refused';
    const { has_factor: hasFactor } = await findSecondFactor(tx, userId, options.secondFactorIssuers());
    if (hasFactor && !session.hasSecondFactor) return 'refused';
    if ((await listIdentities(tx, userId, IDENTITIES_OF_USER_MAX)).length >= IDENTITIES_OF_USER_MAX) return 'too-many';
    if (!(await store(options, tx, userId, identity))) return 'taken';
    await notices.tell(tx, userId, 'identity_linked');
    return undefined;
  });
  if (why !== undefined) return { kind: 'refused', why };
  security.onSignIn({ event: 'identity_linked', userId, address: visitor.address });
  return { kind: 'linked' };
}

/** False where it is linked already, to whomever. */
async function store(
  { rowMacKey, clock }: UserIdentitiesOptions,
  tx: PeopleTx,
  userId: string,
  { issuer, subject }: OidcIdentity,
): Promise<boolean> {
  const fresh = { id: newId(), user_id: userId, issuer, subject, created_at: new Date(clock.nowMs()), used_at: null };
  return insertIdentity(tx, { ...fresh, mac: identityMac(rowMacKey, fresh) });
}

type SignedIdentity = Pick<IdentityRow, 'id' | 'user_id' | 'issuer' | 'subject'>;

/** Whether the product wrote it. */
export function isIdentitySound(rowMacKey: KeyObject, row: SignedIdentity & Pick<IdentityRow, 'mac'>): boolean {
  return macEquals(identityMac(rowMacKey, row), row.mac);
}

/** A row that was written here, or given to another user, opens nothing. */
function identityMac(key: KeyObject, row: SignedIdentity): Buffer {
  return macOf(key, ['identity-1', row.id, row.user_id, row.issuer, row.subject]);
}

function sound({ rowMacKey, security }: UserIdentitiesOptions, row: IdentityRow): IdentityRow {
  if (isIdentitySound(rowMacKey, row)) return row;
  security.onPeopleAltered({ identityId: row.id, userId: row.user_id });
  throw storageUnavailable(new Error('an identity was changed outside the product'));
}
