import type { KeyObject } from 'node:crypto';
import { hashApiKey, macEquals, macOf } from '../../crypto/keyed-hash.js';
import { ALPHANUMERICS, randomText } from '../../crypto/random-text.js';
import type { Clock } from '../../kernel/clock.js';
import { storageUnavailable } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { Secret } from '../../kernel/secret.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { StoredPortalSession } from './queries.js';
import {
  deletePortalSession,
  deletePortalSessionsOf,
  demotePortalSession,
  dropOldestPortalSessions,
  findPortalSession,
  findPortalSessionById,
  insertPortalSession,
  listPortalSessions,
  lockPortalSession,
  seePortalSession,
} from './queries.js';

import { isSeenSound, seenMacOf } from './seen-mac.js';

/** Somebody who is signed in. */
export interface SignedIn {
  readonly sessionId: string;
  readonly userId: string;
  readonly signedInAtMs: number;
  readonly hasSecondFactor: boolean;
  /** Who vouched for the user; undefined for every other way to sign in. */
  readonly issuer: string | undefined;
  readonly expiresAtMs: number;
}

/** From where somebody signs in, as the list of sessions shows it. */
export interface PortalClient {
  readonly address: string | undefined;
  readonly agent: string | undefined;
}

export interface NewPortalSession extends PortalClient {
  readonly userId: string;
  readonly hasSecondFactor: boolean;
  readonly issuer?: string | undefined;
  /** When the user proved who it is; now unless it is said. */
  readonly provenAtMs?: number | undefined;
  /** Its end at the latest; a whole life from now unless it is said. */
  readonly expiresAtMs?: number | undefined;
}

export interface PortalSessions {
  /** Undefined for a secret that is unknown, or of a session that is over. */
  find(secret: Secret<string>): Promise<SignedIn | undefined>;
  /** Whether a session is not over yet. Asking is no use of it: what is left open on a screen ends like any other. */
  isOpen(signedIn: Pick<SignedIn, 'sessionId' | 'userId'>): Promise<boolean>;
  /** Opens one inside the caller's transaction. Its secret is shown to the browser alone. */
  open(
    tx: PeopleTx,
    session: NewPortalSession,
  ): Promise<{ readonly secret: Secret<string>; readonly session: SignedIn }>;
  /** The session as it is now, until the transaction ends; undefined for one that has ended, or was edited. */
  hold(tx: PeopleTx, session: Pick<SignedIn, 'userId' | 'sessionId'>): Promise<SignedIn | undefined>;
  /** What opened it beside a password is gone: it says neither a second factor nor an issuer from now on. */
  demote(tx: PeopleTx, session: Pick<SignedIn, 'userId' | 'sessionId'>): Promise<void>;
  end(tx: PeopleTx, userId: string, sessionId: string): Promise<boolean>;
  endAll(tx: PeopleTx, userId: string): Promise<void>;
  list(tx: PeopleTx, userId: string): Promise<readonly StoredPortalSession[]>;
}

export interface PortalSessionsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: { readonly apiKeyPepper: KeyObject; readonly rowMac: KeyObject };
  readonly onSessionAltered: (story: { readonly sessionId: string; readonly userId: string }) => void;
}

/** 256 random bits. */
const SECRET_LENGTH = 43;
const SECRET_PATTERN = /^[0-9A-Za-z]{43}$/;
const HOUR_MS = 3_600_000;
export const IDLE_MS_MAX = 8 * HOUR_MS;
export const LIFE_MS_MAX = 7 * 24 * HOUR_MS;
/** That a session is used is written down this often. */
const SEEN_STEP_MS = 5 * 60_000;
const SESSIONS_OF_USER_MAX = 100;

export function createPortalSessions(options: PortalSessionsOptions): PortalSessions {
  const { database, clock, keys } = options;
  const hashOf = (secret: string): Buffer => hashApiKey(keys.apiKeyPepper, `portal session ${secret}`);

  function verified(row: StoredPortalSession): StoredPortalSession {
    if (macEquals(sessionMacOf(keys.rowMac, row), row.mac)) return row;
    options.onSessionAltered({ sessionId: row.id, userId: row.user_id });
    throw storageUnavailable(new Error('a session of the Portal was changed outside the product'));
  }

  return {
    async find(secret) {
      const text = secret.reveal();
      if (!SECRET_PATTERN.test(text)) return undefined;
      const found = await database.readPeople((tx) => findPortalSession(tx, hashOf(text)));
      if (!found) return undefined;
      const row = verified(found);
      const nowMs = clock.nowMs();
      if (found.is_disabled || isOver(row, nowMs)) return undefined;
      if (!isSeenSound(keys.rowMac, row)) {
        options.onSessionAltered({ sessionId: row.id, userId: row.user_id });
        return undefined;
      }
      if (nowMs - row.seen_at.getTime() >= SEEN_STEP_MS) {
        const now = new Date(nowMs);
        await database.people((tx) => seePortalSession(tx, row.id, now, seenMacOf(keys.rowMac, row.id, now)));
      }
      return signedInOf(row);
    },

    async isOpen({ sessionId, userId }) {
      const found = await database.readPeople((tx) => findPortalSessionById(tx, sessionId));
      if (!found || found.user_id !== userId || found.is_disabled) return false;
      const row = verified(found);
      return !isOver(row, clock.nowMs()) && isSeenSound(keys.rowMac, row);
    },

    async open(tx, given) {
      const secret = new Secret(randomText(ALPHANUMERICS, SECRET_LENGTH));
      const row = freshRow(keys.rowMac, given, hashOf(secret.reveal()), clock.nowMs());
      await insertPortalSession(tx, row);
      await dropOldestPortalSessions(tx, given.userId, SESSIONS_OF_USER_MAX);
      return { secret, session: signedInOf(row) };
    },

    end: deletePortalSession,
    endAll: deletePortalSessionsOf,
    ...openOnesOf(options),
  };
}

/** Sessions that are there, by their ids. */
function openOnesOf({
  clock,
  keys,
  onSessionAltered,
}: PortalSessionsOptions): Pick<PortalSessions, 'hold' | 'demote' | 'list'> {
  /** One that the product did not write is none, and is told. */
  function isGood(row: StoredPortalSession): boolean {
    if (isOver(row, clock.nowMs())) return false;
    const isSound = isPortalSessionSound(keys.rowMac, row);
    if (!isSound) onSessionAltered({ sessionId: row.id, userId: row.user_id });
    return isSound;
  }

  return {
    async hold(tx, { userId, sessionId }) {
      const row = await lockPortalSession(tx, userId, sessionId);
      return row && isGood(row) ? signedInOf(row) : undefined;
    },

    async demote(tx, { userId, sessionId }) {
      const row = await lockPortalSession(tx, userId, sessionId);
      if (!row || !isGood(row)) return;
      const demoted = { ...row, has_second_factor: false, issuer: null };
      await demotePortalSession(tx, row.id, sessionMacOf(keys.rowMac, demoted));
    },

    async list(tx, userId) {
      return (await listPortalSessions(tx, userId, SESSIONS_OF_USER_MAX)).filter(isGood);
    },
  };
}

function freshRow(rowMacKey: KeyObject, given: NewPortalSession, hash: Buffer, nowMs: number): StoredPortalSession {
  const { userId, hasSecondFactor, issuer, provenAtMs = nowMs, address, agent } = given;
  const now = new Date(nowMs);
  const endMs = Math.min(given.expiresAtMs ?? Number.POSITIVE_INFINITY, nowMs + LIFE_MS_MAX);
  const fresh = {
    ...{ id: newId(), user_id: userId, hash, mac: Buffer.alloc(0), created_at: now, seen_at: now },
    ...{ signed_in_at: new Date(Math.min(provenAtMs, nowMs)), has_second_factor: hasSecondFactor },
    ...{ expires_at: new Date(endMs), address: address ?? null, agent: agent ?? null, issuer: issuer ?? null },
  };
  return { ...fresh, mac: sessionMacOf(rowMacKey, fresh), seen_mac: seenMacOf(rowMacKey, fresh.id, now) };
}

function isOver({ seen_at: seenAt, expires_at: expiresAt }: StoredPortalSession, nowMs: number): boolean {
  return nowMs >= expiresAt.getTime() || nowMs - seenAt.getTime() >= IDLE_MS_MAX;
}

/** Whether the product wrote it. */
export function isPortalSessionSound(rowMacKey: KeyObject, row: StoredPortalSession): boolean {
  return macEquals(sessionMacOf(rowMacKey, row), row.mac) && isSeenSound(rowMacKey, row);
}

/** Over everything but when it was seen, which changes, and what is only shown. */
function sessionMacOf(key: KeyObject, row: Omit<StoredPortalSession, 'seen_mac'>): Buffer {
  const moments = [row.signed_in_at, row.created_at, row.expires_at].map((at) => String(at.getTime()));
  const proven = [String(row.has_second_factor), row.issuer ?? ''];
  return macOf(key, ['portal-session-2', row.id, row.user_id, row.hash, ...proven, ...moments]);
}

function signedInOf(row: StoredPortalSession): SignedIn {
  return {
    sessionId: row.id,
    userId: row.user_id,
    signedInAtMs: row.signed_in_at.getTime(),
    hasSecondFactor: row.has_second_factor,
    issuer: row.issuer ?? undefined,
    expiresAtMs: row.expires_at.getTime(),
  };
}
