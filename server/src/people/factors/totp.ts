import { createHmac } from 'node:crypto';
import { randomText } from '../../crypto/random-text.js';
import { assert } from '../../kernel/assert.js';
import { Secret } from '../../kernel/secret.js';

/** RFC 4648. 32 characters of 5 bits are the 160 bits that RFC 4226 recommends. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const SECRET_CHARACTERS = 32;
const BITS_PER_CHARACTER = 5;
const BITS_PER_BYTE = 8;

export const TOTP_STEP_MS = 30_000;
export const TOTP_DIGITS = 6;
/** A code is good one step early and one step late: clocks differ, and typing takes its time. */
const STEPS_AROUND = 1;
const CODE_PATTERN = /^\d{6}$/;
const COUNTER_BYTES = 8;

/** A secret for one user's authenticator, as base 32 text. */
export function newTotpSecret(): Secret<string> {
  return new Secret(randomText(BASE32, SECRET_CHARACTERS));
}

/** What an authenticator reads from a QR code. SHA-1, because many of them know nothing else. */
export function totpUri(secret: Secret<string>, { issuer, account }: { issuer: string; account: string }): string {
  // The colon divides issuer and account, so neither may hold one of its own.
  const label = [issuer, account].map((part) => encodeURIComponent(part.replaceAll(':', ' '))).join(':');
  const query = `secret=${secret.reveal()}&issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?${query}&algorithm=SHA1&digits=${TOTP_DIGITS}&period=${TOTP_STEP_MS / 1_000}`;
}

/**
 * The step whose code this is, or undefined. The caller stores it and refuses a step that is not greater than the last one
 * used: whoever looks over a shoulder must not use a code once more.
 */
export function matchTotp(secret: Secret<string>, code: string, nowMs: number): number | undefined {
  const typed = code.replace(/\s/g, '');
  if (!CODE_PATTERN.test(typed)) return undefined;
  const current = Math.floor(nowMs / TOTP_STEP_MS);
  const key = bytesOfBase32(secret.reveal());
  try {
    for (let step = current + STEPS_AROUND; step >= Math.max(0, current - STEPS_AROUND); step -= 1) {
      if (equalCodes(hotp(key, step), typed)) return step;
    }
    return undefined;
  } finally {
    key.fill(0);
  }
}

/** RFC 4226, section 5.3. */
export function hotp(key: Buffer, counter: number, digits = TOTP_DIGITS): string {
  const message = Buffer.alloc(COUNTER_BYTES);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha1', key).update(message).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits;
  return String(number).padStart(digits, '0');
}

/** Looks at every digit, wherever the first difference is. */
function equalCodes(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}

export function bytesOfBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text) {
    const value = BASE32.indexOf(character);
    assert(value !== -1, 'a secret of an authenticator is base 32');
    held = (held << BITS_PER_CHARACTER) | value;
    bits += BITS_PER_CHARACTER;
    if (bits < BITS_PER_BYTE) continue;
    bits -= BITS_PER_BYTE;
    bytes.push((held >> bits) & 0xff);
    held &= (1 << bits) - 1;
  }
  const made = Buffer.from(bytes);
  bytes.fill(0);
  return made;
}
