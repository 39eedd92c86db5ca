import type { KeyObject } from 'node:crypto';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { assert } from '../kernel/assert.js';
import { IntegrityError } from './integrity-error.js';

const MAGIC = Buffer.from('SRSEALED');
const VERSION = 1;
const KIND_AT = 9;
const PREFIX_BYTES = 10;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const FILE_KEY_BYTES = 32;
const WRAPPED_BYTES = NONCE_BYTES + FILE_KEY_BYTES + TAG_BYTES;
export const SALT_BYTES = 16;
export const PUBLIC_BYTES = 32;

/** How the key of a stream is found again: from a passphrase, or by the private half of a key pair. */
export type Access =
  | { readonly kind: 'passphrase'; readonly workFactor: number; readonly salt: Buffer }
  | { readonly kind: 'recipient'; readonly ephemeral: Buffer };

const KINDS = {
  passphrase: { number: 1, bytes: 1 + SALT_BYTES },
  recipient: { number: 2, bytes: PUBLIC_BYTES },
} as const;

/** The longest header there is: what a reader must have before it can start. */
export const SEALED_HEADER_BYTES_MAX = PREFIX_BYTES + PUBLIC_BYTES + WRAPPED_BYTES;

export interface Header {
  readonly access: Access;
  /** Everything the wrapped key is bound to. */
  readonly prefix: Buffer;
  readonly wrapped: Buffer;
  readonly bytes: Buffer;
}

/**
 * Header: magic 8, version 1, kind 1, then for a passphrase work factor 1 and salt 16, for a recipient the ephemeral
 * public key 32; then the wrapped file key: nonce 12, ciphertext 32, tag 16.
 */
export function sealHeader(access: Access, wrappingKey: KeyObject, fileKey: Buffer): Buffer {
  assert(fileKey.length === FILE_KEY_BYTES, 'a file key has 32 bytes');
  const prefix = encodePrefix(access);
  // Random, because a passphrase gives all segments of an export one and the same wrapping key.
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, wrappingKey, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(prefix);
  const ciphertext = cipher.update(fileKey);
  cipher.final();
  return Buffer.concat([prefix, nonce, ciphertext, cipher.getAuthTag()]);
}

/** Reads the header at the beginning of `bytes`; nothing in it is proven before the file key has opened. */
export function readHeader(bytes: Buffer): Header {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new IntegrityError('This is not a sealed stream.');
  if (bytes[MAGIC.length] !== VERSION) throw new IntegrityError('A sealed stream has an unknown version.');
  const kind = kindOf(bytes[KIND_AT]);
  const wrappedAt = PREFIX_BYTES + KINDS[kind].bytes;
  const end = wrappedAt + WRAPPED_BYTES;
  if (bytes.length < end) throw new IntegrityError('A sealed stream ends in its header.');
  const body = bytes.subarray(PREFIX_BYTES, wrappedAt);
  return {
    access:
      kind === 'passphrase'
        ? { kind, workFactor: body.readUInt8(0), salt: Buffer.from(body.subarray(1)) }
        : { kind, ephemeral: Buffer.from(body) },
    prefix: bytes.subarray(0, wrappedAt),
    wrapped: bytes.subarray(wrappedAt, end),
    bytes: bytes.subarray(0, end),
  };
}

/** The file key; throws IntegrityError for another passphrase, another identity, or a header that was changed. */
export function openHeader({ prefix, wrapped }: Header, wrappingKey: KeyObject): Buffer {
  const tagAt = NONCE_BYTES + FILE_KEY_BYTES;
  const decipher = createDecipheriv(CIPHER, wrappingKey, wrapped.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(prefix);
  decipher.setAuthTag(wrapped.subarray(tagAt));
  const fileKey = decipher.update(wrapped.subarray(NONCE_BYTES, tagAt));
  try {
    decipher.final();
  } catch {
    fileKey.fill(0);
    throw new IntegrityError(
      'A sealed stream does not open: it was sealed for another key, or its header was changed.',
    );
  }
  return fileKey;
}

function encodePrefix(access: Access): Buffer {
  const { number } = KINDS[access.kind];
  const body = access.kind === 'passphrase' ? [Buffer.from([access.workFactor]), access.salt] : [access.ephemeral];
  const prefix = Buffer.concat([MAGIC, Buffer.from([VERSION, number]), ...body]);
  assert(prefix.length === PREFIX_BYTES + KINDS[access.kind].bytes, 'salt and public key have their fixed lengths');
  return prefix;
}

function kindOf(number: number | undefined): Access['kind'] {
  if (number === KINDS.passphrase.number) return 'passphrase';
  if (number === KINDS.recipient.number) return 'recipient';
  throw new IntegrityError('A sealed stream is sealed in an unknown way.');
}
