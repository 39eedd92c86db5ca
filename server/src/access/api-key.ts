import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Secret } from '../kernel/secret.js';
import type { ApplicationType } from './permissions.js';

const PREFIX = {
  ...{ public: 'key_pub_', private: 'key_pvt_', management: 'key_mgt_', session: 'key_ses_' },
  proxy: 'key_prx_',
} as const;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 26;
const CHECKSUM_LENGTH = 6;
const KEY_LENGTH = 8 + RANDOM_LENGTH + CHECKSUM_LENGTH;
const KEY_PATTERN = /^key_(pub|pvt|mgt|ses)_[0-9A-Za-z]{32}$/;
const PROXY_KEY_PATTERN = /^key_prx_[0-9A-Za-z]{32}$/;
export const NONCE_LENGTH = 22;
/** Any credential of ours, a root key or a secret of callbacks, wherever it stands in a text. */
const SECRET_ANYWHERE = /key_(pub|pvt|mgt|ses|prx)_[0-9A-Za-z]{32}|rk1_[0-9A-Za-z_-]{43}|rcs_[0-9a-z]{40}/;

/** A new key: 26 random characters (154 bits) and a checksum, so that a typo is refused without a look-up. */
export function generateApiKey(type: ApplicationType | 'session'): Secret<string> {
  return generateKey(PREFIX[type]);
}

/** Names a Proxy. It is an address: it opens nothing as an API key. */
export function generateProxyKey(): Secret<string> {
  return generateKey(PREFIX.proxy);
}

function generateKey(prefix: string): Secret<string> {
  const body = prefix + randomBase62(RANDOM_LENGTH);
  return new Secret(body + checksumOf(body));
}

/** Shape and checksum. Says nothing about whether the key exists. */
export function isWellFormedApiKey(text: string): boolean {
  return isWellFormedKey(text, KEY_PATTERN);
}

export function isWellFormedProxyKey(text: string): boolean {
  return isWellFormedKey(text, PROXY_KEY_PATTERN);
}

function isWellFormedKey(text: string, pattern: RegExp): boolean {
  if (text.length !== KEY_LENGTH || !pattern.test(text)) return false;
  const split = KEY_LENGTH - CHECKSUM_LENGTH;
  return checksumOf(text.slice(0, split)) === text.slice(split);
}

/** The application type a well-formed key was made for. */
export function applicationTypeOfKey(text: string): ApplicationType | undefined {
  if (text.startsWith(PREFIX.public)) return 'public';
  if (text.startsWith(PREFIX.private)) return 'private';
  return text.startsWith(PREFIX.management) ? 'management' : undefined;
}

export function isSessionKey(text: string): boolean {
  return text.startsWith(PREFIX.session);
}

/** What a session is authorized by: 131 random bits that work once. */
export function generateNonce(): Secret<string> {
  return new Secret(randomBase62(NONCE_LENGTH));
}

/** Does the text hold something that looks like a key? Such text is never written to a log. */
export function containsKey(text: string): boolean {
  return SECRET_ANYWHERE.test(text);
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    const bytes = randomBytes(length);
    for (const byte of bytes) {
      // Bytes from 248 on would make the first characters of the alphabet likelier than the rest.
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
    bytes.fill(0);
  }
  return text;
}
