import { createHash, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { Secret } from '../kernel/secret.js';
import { withWiped } from './wiped.js';

const PREFIX = 'rk1_';
const KEY_BYTES = 32;
const CHECKSUM_BYTES = 4;
const ID_BYTES = 6;
const ID_LABEL = 'strongroom/root-key-id/1';
const TEXT_LENGTH = 56;
// Fixed widths, because base64url itself may hold an underscore.
const TEXT_PATTERN = /^(rk1_([A-Za-z0-9_-]{43}))_([0-9a-f]{8})$/;

/** The key that wraps all others. The id may be shown and stored: it reveals nothing about the key. */
export interface RootKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The text is no root key. The message helps to find the slip and never repeats the text. */
export class RootKeyFormatError extends Error {
  override readonly name = 'RootKeyFormatError';
}

export function generateRootKey(): Secret<string> {
  const body = PREFIX + withWiped(randomBytes(KEY_BYTES), (bytes) => bytes.toString('base64url'));
  return new Secret(`${body}_${checksumOf(body)}`);
}

/** Takes the text as a file or a variable gives it: spaces and line ends around it do not matter. */
export function parseRootKey(text: string): RootKey {
  const [, body, encoded, checksum] = TEXT_PATTERN.exec(text.trim()) ?? [];
  if (body === undefined || encoded === undefined) throw new RootKeyFormatError(describeFault(text.trim()));
  const key = withWiped(Buffer.from(encoded, 'base64url'), (bytes) => {
    // The last character carries two spare bits: one key must not have four spellings.
    if (checksumOf(body) !== checksum || bytes.toString('base64url') !== encoded) {
      throw new RootKeyFormatError('The root key does not match its checksum: at least one character is wrong.');
    }
    return createSecretKey(bytes);
  });
  return { id: idOf(key), key };
}

/** The text parseRootKey takes, for writing a key file anew. */
export function formatRootKey({ key }: RootKey): Secret<string> {
  const body = PREFIX + withWiped(key.export(), (bytes) => bytes.toString('base64url'));
  return new Secret(`${body}_${checksumOf(body)}`);
}

function describeFault(text: string): string {
  if (text === '') return 'The root key is empty.';
  if (!text.startsWith(PREFIX)) return `The root key does not begin with ${PREFIX}.`;
  if (text.length !== TEXT_LENGTH) {
    return `The root key has ${text.length} characters instead of ${TEXT_LENGTH}: it may have been cut or joined.`;
  }
  return 'The root key holds a character that does not belong there.';
}

/** Catches slips of typing and copying, not attacks. It is part of the secret text and is stored nowhere else. */
function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest().toString('hex', 0, CHECKSUM_BYTES);
}

function idOf(key: KeyObject): string {
  return `rk-${Buffer.from(hkdfSync('sha256', key, '', ID_LABEL, ID_BYTES)).toString('hex')}`;
}
