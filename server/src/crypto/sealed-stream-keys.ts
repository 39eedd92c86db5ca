import type { KeyObject } from 'node:crypto';
import {
  createHmac,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  scrypt,
} from 'node:crypto';
import { assert } from '../kernel/assert.js';
import type { Secret } from '../kernel/secret.js';
import { publicBytesOf, publicKeyFrom, publicTextOf } from './exchange-key.js';
import { IntegrityError } from './integrity-error.js';
import type { Access } from './sealed-stream-header.js';
import { SALT_BYTES } from './sealed-stream-header.js';
import { withWiped } from './wiped.js';

/** N = 2^17 with r = 8: 128 MiB and a few tenths of a second for every guess. */
export const WORK_FACTOR = 17;
/** A header may not ask for more than a gigabyte before it has proven anything. */
const WORK_FACTOR_MAX = 20;
const WORK_FACTOR_MIN = 10;
const BLOCK_SIZE = 8;
const PARALLEL = 1;
const MEMORY_SPARE_BYTES = 1_048_576;
const KEY_BYTES = 32;
const EXCHANGE_LABEL = 'strongroom/sealed-stream/x25519/1';
const NAME_LABEL = 'strongroom/sealed-stream/name/1';
const NAME_BYTES = 16;
const NAME_PATTERN = /^passphrase:(\d{1,2}):([A-Za-z0-9_-]{22}):[0-9a-f]{32}$/;

/** Seals streams: each gets a way to be opened and the key its own file key is wrapped under. */
export interface StreamLock {
  /** Tells two locks apart: streams of two locks with one name open with the same passphrase or identity. */
  readonly name: string;
  nextAccess(): { readonly access: Access; readonly wrappingKey: KeyObject };
}

/** Opens streams. */
export interface StreamUnlock {
  wrappingKeyOf(access: Access): Promise<KeyObject>;
}

/** `like` is the name of an earlier lock: with the same passphrase this one gets the same name. */
export async function passphraseLock(
  passphrase: Secret<string>,
  { workFactor = WORK_FACTOR, like }: { readonly workFactor?: number; readonly like?: string } = {},
): Promise<StreamLock> {
  const [, factor = String(workFactor), encoded] = NAME_PATTERN.exec(like ?? '') ?? [];
  const salt = encoded === undefined ? randomBytes(SALT_BYTES) : Buffer.from(encoded, 'base64url');
  const access: Access = { kind: 'passphrase', workFactor: Number(factor), salt };
  const wrappingKey = await stretch(passphrase, access);
  const proof = createHmac('sha256', wrappingKey)
    .update(NAME_LABEL)
    .digest('hex')
    .slice(0, 2 * NAME_BYTES);
  return {
    name: `passphrase:${factor}:${salt.toString('base64url')}:${proof}`,
    nextAccess: () => ({ access, wrappingKey }),
  };
}

export function recipientLock(publicKey: KeyObject): StreamLock {
  return {
    name: publicTextOf(publicKey),
    nextAccess() {
      const pair = generateKeyPairSync('x25519');
      const ephemeral = publicBytesOf(pair.publicKey);
      return {
        access: { kind: 'recipient', ephemeral },
        wrappingKey: agree(pair.privateKey, publicKey, ephemeral, publicBytesOf(publicKey)),
      };
    },
  };
}

/** Remembers the last key, because all segments of an export share their salt. */
export function passphraseUnlock(passphrase: Secret<string>): StreamUnlock {
  let last: { readonly name: string; readonly key: Promise<KeyObject> } | undefined;
  return {
    async wrappingKeyOf(access) {
      if (access.kind !== 'passphrase') {
        throw new IntegrityError('The stream was sealed to a public key: it opens with an identity, not a passphrase.');
      }
      if (access.workFactor < WORK_FACTOR_MIN || access.workFactor > WORK_FACTOR_MAX) {
        throw new IntegrityError('A sealed stream asks for a work factor that is out of bounds.');
      }
      const name = `${access.workFactor} ${access.salt.toString('hex')}`;
      if (last?.name !== name) last = { name, key: stretch(passphrase, access) };
      return last.key;
    },
  };
}

export function identityUnlock(privateKey: KeyObject): StreamUnlock {
  const own = publicBytesOf(createPublicKey(privateKey));
  return {
    async wrappingKeyOf(access) {
      if (access.kind !== 'recipient') {
        throw new IntegrityError('The stream was sealed with a passphrase: it does not open with an identity.');
      }
      try {
        return agree(privateKey, publicKeyFrom(access.ephemeral), access.ephemeral, own);
      } catch (error) {
        // A point of low order gives the same secret to everybody, and OpenSSL refuses it.
        throw new IntegrityError('A sealed stream has an ephemeral key that is none.', { cause: error });
      }
    },
  };
}

/** Both public keys go into the derivation, so that the wrapped key is bound to this sender and this recipient. */
function agree(privateKey: KeyObject, publicKey: KeyObject, ephemeral: Buffer, recipient: Buffer): KeyObject {
  const salt = Buffer.concat([ephemeral, recipient]);
  return withWiped(diffieHellman({ privateKey, publicKey }), (shared) =>
    takenInto(Buffer.from(hkdfSync('sha256', shared, salt, EXCHANGE_LABEL, KEY_BYTES))),
  );
}

function stretch(
  passphrase: Secret<string>,
  { workFactor, salt }: Access & { kind: 'passphrase' },
): Promise<KeyObject> {
  assert(workFactor >= WORK_FACTOR_MIN && workFactor <= WORK_FACTOR_MAX, 'the work factor is within its bounds');
  const cost = 2 ** workFactor;
  const maxmem = 128 * BLOCK_SIZE * (cost + PARALLEL) + MEMORY_SPARE_BYTES;
  // One text has several spellings in Unicode, and keyboards differ in which they write.
  const text = passphrase.reveal().normalize('NFC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, KEY_BYTES, { N: cost, r: BLOCK_SIZE, p: PARALLEL, maxmem }, (error, bytes) => {
      if (error) reject(error);
      else resolve(takenInto(bytes));
    });
  });
}

/** The KeyObject holds its own copy outside the JavaScript heap. */
function takenInto(bytes: Buffer): KeyObject {
  return withWiped(bytes, createSecretKey);
}
