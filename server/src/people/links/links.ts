import type { KeyObject } from 'node:crypto';
import { hashApiKey, macEquals, macOf } from '../../crypto/keyed-hash.js';
import { ALPHANUMERICS, randomText } from '../../crypto/random-text.js';
import { assert } from '../../kernel/assert.js';
import type { Clock } from '../../kernel/clock.js';
import { newId } from '../../kernel/ids.js';
import { Secret } from '../../kernel/secret.js';
import type { PeopleTx } from '../../storage/scope.js';
import { lockUser } from '../users/lock-queries.js';
import type { StoredLink } from './queries.js';
import { deleteLinksOf, findLink, replaceLink, takeLink } from './queries.js';

/** What a link is for. One for another purpose is none. */
export type LinkPurpose = 'set-up' | 'registration' | PasswordLinkPurpose;

/**
 * The operator's link for a new password, and the one that whoever knows an address can have mailed to it. They are apart, so
 * that asking for a mail does not kill the link of the operator.
 */
export type PasswordLinkPurpose = 'password-reset' | 'password-reset-by-mail';
export const PASSWORD_LINKS: readonly PasswordLinkPurpose[] = ['password-reset', 'password-reset-by-mail'];

/** How long one is good that the operator passes on. */
export const OPERATOR_LINK_HOURS = 72;
export const OPERATOR_LINK_MS = OPERATOR_LINK_HOURS * 3_600_000;

/** Links that prove who opens them, each good once. */
export interface Links {
  /** A new one; those of before for the same purpose are dead. */
  make(tx: PeopleTx, userId: string, purpose: LinkPurpose, lifeMs: number): Promise<Secret<string>>;
  /** The same with a secret that is there already: that of the invitation by which the account was made. */
  keep(tx: PeopleTx, userId: string, purpose: LinkPurpose, secret: string, lifeMs: number): Promise<void>;
  /** The same work for nobody: whoever measures cannot tell. */
  pretend(tx: PeopleTx, purpose: LinkPurpose, lifeMs: number): Promise<Secret<string>>;
  /** Those of a user are dead. */
  drop(tx: PeopleTx, userId: string, purposes: readonly LinkPurpose[]): Promise<void>;
  /** Whose it is; undefined for one that is unknown, used, over, or for something else. It stays good. */
  look(tx: PeopleTx, secret: string, purpose: LinkPurpose): Promise<string | undefined>;
  /** The same, and it is used up. */
  take(tx: PeopleTx, secret: string, purpose: LinkPurpose): Promise<string | undefined>;
}

export interface LinksOptions {
  readonly clock: Clock;
  readonly keys: { readonly apiKeyPepper: KeyObject; readonly rowMac: KeyObject };
}

/** 256 random bits. */
const SECRET_LENGTH = 43;
const SECRET_PATTERN = /^[0-9A-Za-z]{43}$/;

export function createLinks({ clock, keys }: LinksOptions): Links {
  const hashOf = (secret: string): Buffer => hashApiKey(keys.apiKeyPepper, `user link ${secret}`);

  async function find(tx: PeopleTx, secret: string, purpose: LinkPurpose): Promise<StoredLink | undefined> {
    if (!SECRET_PATTERN.test(secret)) return undefined;
    const link = await findLink(tx, hashOf(secret));
    if (!link || link.purpose !== purpose || link.expires_at.getTime() <= clock.nowMs()) return undefined;
    return isLinkSound(keys.rowMac, link) ? link : undefined;
  }

  async function replace(
    tx: PeopleTx,
    userId: string,
    purpose: LinkPurpose,
    lifeMs: number,
    secret = new Secret(randomText(ALPHANUMERICS, SECRET_LENGTH)),
  ) {
    const nowMs = clock.nowMs();
    const made = {
      ...{ hash: hashOf(secret.reveal()), user_id: userId, purpose, mac: Buffer.alloc(0) },
      ...{ expires_at: new Date(nowMs + lifeMs), created_at: new Date(nowMs) },
    };
    // Links of a user are made and used one after the other: of two made at once the older would stay good.
    await lockUser(tx, userId);
    const isMade = await replaceLink(tx, { ...made, mac: linkMac(keys.rowMac, made) });
    return { secret, isMade };
  }

  return {
    async make(tx, userId, purpose, lifeMs) {
      const { secret, isMade } = await replace(tx, userId, purpose, lifeMs);
      assert(isMade, 'a link is for a user');
      return secret;
    },
    async keep(tx, userId, purpose, secret, lifeMs) {
      await replace(tx, userId, purpose, lifeMs, new Secret(secret));
    },
    pretend: async (tx, purpose, lifeMs) => (await replace(tx, newId(), purpose, lifeMs)).secret,
    drop: deleteLinksOf,
    look: async (tx, secret, purpose) => (await find(tx, secret, purpose))?.user_id,
    async take(tx, secret, purpose) {
      const link = await find(tx, secret, purpose);
      // Before the link's own row, as whoever makes one does: the other way round the two could wait for each other.
      if (link) await lockUser(tx, link.user_id);
      return link && (await takeLink(tx, link.hash)) ? link.user_id : undefined;
    },
  };
}

/** Whether the product wrote it. */
export function isLinkSound(rowMacKey: KeyObject, link: StoredLink): boolean {
  return macEquals(linkMac(rowMacKey, link), link.mac);
}

/** A row that was written here, or given to another user, opens nothing. */
function linkMac(key: KeyObject, { hash, user_id, purpose, expires_at }: StoredLink): Buffer {
  return macOf(key, ['user-link-1', hash, user_id, purpose, String(expires_at.getTime())]);
}
