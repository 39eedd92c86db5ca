import type { JsonWebKey } from 'node:crypto';
import { createPublicKey } from 'node:crypto';

/** COSE numbers of ES256, EdDSA and RS256. One list for every version of Node, so that a passkey works with all of them. */
export const PASSKEY_ALGORITHMS: readonly number[] = [-7, -8, -257];

/** Members of COSE keys (RFC 9053): the same number means another thing in a key of another type. */
const MEMBER = { type: 1, algorithm: 3, curve: -1, x: -2, y: -3, modulus: -1, exponent: -2 };
const TYPE = { okp: 1, ec2: 2, rsa: 3 };
const CURVE = { p256: 1, ed25519: 6 };
const RSA_BITS_MIN = 2_048;
const RSA_BITS_MAX = 4_096;

/**
 * Whether a signature can ever be checked with this key. The library looks no closer than at its algorithm, and one that was
 * cut short would be stored as a passkey with which nobody can sign in.
 */
export async function isUsablePasskeyKey(cose: Uint8Array): Promise<boolean> {
  const { decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers');
  const members: unknown = decodeCredentialPublicKey(new Uint8Array(cose));
  const jwk = members instanceof Map ? jwkOf(members) : undefined;
  if (jwk === undefined) return false;
  // Throws for a point that is not on its curve.
  const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' });
  const bits = asymmetricKeyDetails?.modulusLength;
  return bits === undefined || (bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX);
}

function jwkOf(members: ReadonlyMap<unknown, unknown>): JsonWebKey | undefined {
  const bytes = (member: number): string => {
    const value = members.get(member);
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : '';
  };
  const [type, algorithm, curve] = [MEMBER.type, MEMBER.algorithm, MEMBER.curve].map((member) => members.get(member));
  if (type === TYPE.ec2 && algorithm === -7 && curve === CURVE.p256) {
    return { kty: 'EC', crv: 'P-256', x: bytes(MEMBER.x), y: bytes(MEMBER.y) };
  }
  if (type === TYPE.okp && algorithm === -8 && curve === CURVE.ed25519) {
    return { kty: 'OKP', crv: 'Ed25519', x: bytes(MEMBER.x) };
  }
  if (type === TYPE.rsa && algorithm === -257) {
    return { kty: 'RSA', n: bytes(MEMBER.modulus), e: bytes(MEMBER.exponent) };
  }
  return undefined;
}
