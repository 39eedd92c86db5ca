import type { KeyObject } from 'node:crypto';
import { hashApiKey } from '../../crypto/keyed-hash.js';
import { ALPHANUMERICS, randomText } from '../../crypto/random-text.js';
import type { Clock } from '../../kernel/clock.js';
import { Secret } from '../../kernel/secret.js';
import type { PeopleTx } from '../../storage/scope.js';
import { dropOldestDevices, insertDevice, seeDevice } from './queries.js';

/** Marks a browser. It opens nothing: without it, a sign-in is only told to the user. */
export const DEVICE_COOKIE = '__Host-strongroom_device';

/** As long as browsers keep a cookie at most. */
export const DEVICE_LIFE_MS = 400 * 24 * 3_600_000;
export const DEVICES_OF_USER_MAX = 50;
/** 256 random bits. */
const SECRET_LENGTH = 43;
const SECRET_PATTERN = /^[0-9A-Za-z]{43}$/;

export interface KnownDevice {
  /** For the cookie. */
  readonly secret: Secret<string>;
  readonly isNew: boolean;
}

/** The browsers that users sign in with. */
export interface Devices {
  /** Whether the user was seen with this browser; from now on it was. */
  meet(tx: PeopleTx, userId: string, given: Secret<string> | undefined): Promise<KnownDevice>;
}

export interface DevicesOptions {
  readonly clock: Clock;
  readonly keys: { readonly apiKeyPepper: KeyObject };
}

export function createDevices({ clock, keys }: DevicesOptions): Devices {
  return {
    async meet(tx, userId, given) {
      const isWellFormed = given !== undefined && SECRET_PATTERN.test(given.reveal());
      // Several people may share a browser, so one that is marked keeps its mark.
      const secret = isWellFormed ? given : new Secret(randomText(ALPHANUMERICS, SECRET_LENGTH));
      // With the user in it: who copies a row to another user makes no browser known there.
      const hash = hashApiKey(keys.apiKeyPepper, `user device ${userId} ${secret.reveal()}`);
      const nowMs = clock.nowMs();
      const isNew = !(await seeDevice(tx, userId, hash, nowMs));
      if (isNew) {
        await insertDevice(tx, userId, hash, nowMs);
        await dropOldestDevices(tx, userId, DEVICES_OF_USER_MAX);
      }
      return { secret, isNew };
    },
  };
}
