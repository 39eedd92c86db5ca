import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { CheckSeal, SealManifest } from '../storage/backup/seal.js';
import type { RootKey } from './root-key.js';
import type { RootKeyRing } from './root-key-ring.js';
import { idsOf } from './root-key-ring.js';
import { deriveSubkey } from './subkey.js';

const FORMAT = 'strongroom-seal-1';
const LABEL = 'strongroom/backup-manifest/1';
const PATTERN = /^strongroom-seal-1 (rk-[0-9a-f]{12}) ([0-9a-f]{64})\n?$/;

/**
 * Seals a manifest by a key for this purpose alone, from the root key: a restore has nothing else at hand, since the other
 * keys lie in the backup itself. It says that nothing was changed, not that there is no newer one.
 */
export function manifestSealer(ring: RootKeyRing): SealManifest {
  return (rootKeyId) => {
    const rootKey = rootKeyId === undefined ? ring[0] : ring.find(({ id }) => id === rootKeyId);
    if (rootKey === undefined) throw otherKey('The database was sealed', rootKeyId, ring);
    return (text) => `${FORMAT} ${rootKey.id} ${macOf(rootKey, text).toString('hex')}\n`;
  };
}

export interface SealCheckOptions {
  /** The operator explicitly accepts a backup without a seal. */
  readonly isUnsealedAccepted: boolean;
}

export function sealCheck(ring: RootKeyRing, { isUnsealedAccepted }: SealCheckOptions): CheckSeal {
  return (text, seal) => {
    if (seal === undefined) {
      if (isUnsealedAccepted) return;
      throw new ExitError(
        EXIT.failure,
        'The backup has no seal: earlier releases wrote none, and whoever changes a backup can remove it. Nothing was ' +
          'changed. If you know who wrote this one and that nobody else could, restore it with --accept-unsealed.',
      );
    }
    const [, rootKeyId, mac] = PATTERN.exec(seal) ?? [];
    if (mac === undefined) throw doesNotFit();
    const rootKey = ring.find(({ id }) => id === rootKeyId);
    if (rootKey === undefined) throw otherKey('The backup was sealed', rootKeyId, ring);
    if (!timingSafeEqual(Buffer.from(mac, 'hex'), macOf(rootKey, text))) throw doesNotFit();
  };
}

function macOf({ key }: RootKey, text: string): Buffer {
  return createHmac('sha256', sealingKey(key)).update(text).digest();
}

function sealingKey(rootKey: KeyObject): KeyObject {
  return deriveSubkey(rootKey, LABEL);
}

function otherKey(what: string, rootKeyId: string | undefined, ring: RootKeyRing): ExitError {
  return new ExitError(
    EXIT.configuration,
    `${what} by root key ${rootKeyId}, but root key ${idsOf(ring).join(' and ')} was given. Nothing was changed. ` +
      `Set root key ${rootKeyId} and run the command again.`,
  );
}

function doesNotFit(): ExitError {
  return new ExitError(
    EXIT.failure,
    'The backup was changed after it was written: its seal does not fit its manifest. Nothing was changed. Use another backup.',
  );
}
