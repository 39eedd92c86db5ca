import type { KeyObject } from 'node:crypto';
import { Secret } from '../kernel/secret.js';
import { IntegrityError } from './integrity-error.js';
import { formatRootKey, parseRootKey, type RootKey, RootKeyFormatError } from './root-key.js';
import { unwrapKey, type WrapContext } from './wrap.js';

/** The first one wraps whatever is new; each of them opens what it wrapped. More than one only while rotating. */
export type RootKeyRing = readonly [RootKey, ...RootKey[]];

const KEYS_MAX = 4;
const SEPARATOR = /[,\n]/;

/** Takes the text as a file or a variable gives it: keys separated by commas or line ends, the one to wrap with first. */
export function parseRootKeyRing(text: string): RootKeyRing {
  const parts = text.split(SEPARATOR).filter((part) => part.trim() !== '');
  if (parts.length > KEYS_MAX) throw new RootKeyFormatError(`It holds more than ${KEYS_MAX} root keys.`);
  // Without any part the empty text is parsed, which says so.
  const [first = '', ...others] = parts;
  const ring: RootKeyRing = [parseRootKey(first), ...others.map(parseRootKey)];
  if (new Set(idsOf(ring)).size < ring.length) throw new RootKeyFormatError('It holds the same root key twice.');
  return ring;
}

/** One key a line, as a key file holds them. */
export function formatRootKeyRing(ring: RootKeyRing): Secret<string> {
  return new Secret(ring.map((rootKey) => `${formatRootKey(rootKey).reveal()}\n`).join(''));
}

export function idsOf(ring: readonly RootKey[]): string[] {
  return ring.map(({ id }) => id);
}

/** Throws IntegrityError when none of the keys wrapped it for this place. */
export function unwrapByRing(ring: readonly RootKey[], context: WrapContext, wrapped: Buffer): KeyObject {
  let refusal: unknown = new IntegrityError('A wrapped key cannot be opened without a root key.');
  for (const rootKey of ring) {
    try {
      return unwrapKey(rootKey, context, wrapped);
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}
