import type { KeyObject } from 'node:crypto';
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { Secret } from '../kernel/secret.js';
import { withWiped } from './wiped.js';

const PUBLIC_PREFIX = 'exportpub1_';
const PRIVATE_PREFIX = 'exportkey1_';
const CHECKSUM_BYTES = 4;
// Fixed widths, because base64url itself may hold an underscore.
const TEXT_PATTERN = /^(export(?:pub|key)1_)([A-Za-z0-9_-]{43})_([0-9a-f]{8})$/;
// What RFC 8410 puts before the 32 bytes of an X25519 key.
const PUBLIC_DER_HEAD = Buffer.from('302a300506032b656e032100', 'hex');
const PRIVATE_DER_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** The text is no key of this kind. The message helps to find the slip and never repeats the text. */
export class ExchangeKeyFormatError extends Error {
  override readonly name = 'ExchangeKeyFormatError';
}

/** A key pair for sealing a stream to somebody: the public half seals, the private half alone opens. */
export function generateExchangeKey(): { readonly publicText: string; readonly privateText: Secret<string> } {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const privateText = withWiped(privateKey.export({ type: 'pkcs8', format: 'der' }), (der) =>
    textOf(PRIVATE_PREFIX, der.subarray(PRIVATE_DER_HEAD.length)),
  );
  return { publicText: publicTextOf(publicKey), privateText: new Secret(privateText) };
}

export function publicTextOf(publicKey: KeyObject): string {
  return textOf(PUBLIC_PREFIX, publicBytesOf(publicKey));
}

export function publicBytesOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' }).subarray(PUBLIC_DER_HEAD.length);
}

export function publicKeyFrom(bytes: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([PUBLIC_DER_HEAD, bytes]), format: 'der', type: 'spki' });
}

/** Spaces and line ends around the text do not matter. */
export function parsePublicExchangeKey(text: string): KeyObject {
  return publicKeyFrom(bytesOf(PUBLIC_PREFIX, text));
}

export function parsePrivateExchangeKey(text: string): KeyObject {
  return withWiped(bytesOf(PRIVATE_PREFIX, text), (bytes) =>
    withWiped(Buffer.concat([PRIVATE_DER_HEAD, bytes]), (key) =>
      createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
    ),
  );
}

function textOf(prefix: string, bytes: Buffer): string {
  const body = prefix + bytes.toString('base64url');
  return `${body}_${checksumOf(body)}`;
}

function bytesOf(wanted: string, text: string): Buffer {
  const [, prefix, encoded, checksum] = TEXT_PATTERN.exec(text.trim()) ?? [];
  if (prefix === undefined || encoded === undefined) {
    throw new ExchangeKeyFormatError(`An export key begins with ${wanted} and has ${wanted.length + 52} characters.`);
  }
  if (prefix !== wanted) {
    throw new ExchangeKeyFormatError(
      wanted === PUBLIC_PREFIX
        ? `This is the private half of an export key; give the public one, which begins with ${PUBLIC_PREFIX}.`
        : `This is the public half of an export key; give the private one, which begins with ${PRIVATE_PREFIX}.`,
    );
  }
  const bytes = Buffer.from(encoded, 'base64url');
  // The last character carries two spare bits: one key must not have four spellings.
  if (checksumOf(prefix + encoded) !== checksum || bytes.toString('base64url') !== encoded) {
    bytes.fill(0);
    throw new ExchangeKeyFormatError('The export key does not match its checksum: at least one character is wrong.');
  }
  return bytes;
}

/** Catches slips of typing and copying, not attacks. */
function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest().toString('hex', 0, CHECKSUM_BYTES);
}
