import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { LOWER_CASE_ALPHANUMERICS, randomText } from '../../crypto/random-text.js';
import { assert } from '../../kernel/assert.js';
import { parseUrl } from '../../kernel/parse-url.js';
import type { PasskeyTransport } from './browser-answer.js';
import { readRegistrationAnswer, readSignInAnswer } from './browser-answer.js';
import { isUsablePasskeyKey, PASSKEY_ALGORITHMS } from './public-key.js';
import { userHandleOf, userIdOfHandle } from './user-handle.js';

export interface PasskeyUser {
  readonly id: string;
  readonly email: string;
  readonly name?: string;
}

/** A passkey as the caller stored it. */
export interface StoredPasskey {
  readonly userId: string;
  /** Base 64 for URLs, as are all ids of passkeys here. */
  readonly credentialId: string;
  /** In the COSE form, as `verifyRegistration` gave it. */
  readonly publicKey: Uint8Array;
  /** The last one that was seen; 0 of authenticators that do not count. */
  readonly counter: number;
}

export interface NewPasskey {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly PasskeyTransport[];
  /** Which make of authenticator it says it is. Nobody proves this, so it is good for a picture alone. */
  readonly aaguid: string;
  /** It may be on several devices of the user. */
  readonly isSynced: boolean;
  readonly backedUp: boolean;
}

export interface PasskeySignIn {
  /** Must be stored, in one statement that refuses a counter that another sign-in has passed meanwhile. */
  readonly newCounter: number;
  /** Always: an answer without it is refused. */
  readonly userVerified: true;
  /** The user's id, which is that of the stored passkey. */
  readonly userHandle: string;
  readonly backedUp: boolean;
}

/** For the operator's log. Whoever signs in is told the same for all of them. */
export type PasskeyRefusalReason =
  /** Not what a browser sends, too large, or from a page inside another one. */
  | 'malformed'
  /** Of another origin, challenge or Portal, without verification of the user, or with a signature that is not right. */
  | 'unverified'
  /** For another passkey or another user than the stored one. */
  | 'foreign'
  /** The signature is right, and the counter went back: there are two of this authenticator. */
  | 'cloned';

export interface PasskeyRefusal {
  readonly refused: PasskeyRefusalReason;
}

/** Makes and checks passkeys. Must be given each challenge once: the caller keeps it, and forgets it with the first answer. */
export interface Passkeys {
  /** Whether the Portal has a name, which browsers bind passkeys to. */
  areUsable(): boolean;
  /** The `challenge` in the result is what `verifyRegistration` has to be given. */
  registrationOptions(
    user: PasskeyUser,
    existing: readonly { readonly credentialId: string; readonly transports: readonly PasskeyTransport[] }[],
  ): Promise<PublicKeyCredentialCreationOptionsJSON>;
  verifyRegistration(answer: unknown, expectedChallenge: string): Promise<NewPasskey | PasskeyRefusal>;
  /** The same for everybody: it does not tell who has a passkey. */
  signInOptions(): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /** Which stored passkey the answer is about. It proves nothing yet. */
  credentialIdOf(answer: unknown): string | undefined;
  verifySignIn(
    answer: unknown,
    expectedChallenge: string,
    stored: StoredPasskey,
  ): Promise<PasskeySignIn | PasskeyRefusal>;
}

const RP_NAME = 'Strongroom';
const TIMEOUT_MS = 300_000;
/** 36 characters to the 32nd: 165 bits. */
const CHALLENGE_CHARACTERS = 32;
/** As sent and compared: the base 64 of the above. An empty one, of a caller that forgot it, must match nothing. */
const CHALLENGE_TEXT = /^[A-Za-z0-9_-]{43}$/;
/** WebAuthn, section 4, allows 1,023 bytes. */
const CREDENTIAL_ID_BYTES_MAX = 1_023;
/** RSA with 4,096 bits has 530. */
const PUBLIC_KEY_BYTES_MAX = 1_024;

export function createPasskeys({ portalUrl }: { readonly portalUrl: () => string }): Passkeys {
  function expected(expectedChallenge: string) {
    const { rpID, origin } = portalOf(portalUrl());
    return { expectedChallenge, expectedOrigin: origin, expectedRPID: rpID, requireUserVerification: true };
  }

  return {
    areUsable: () => isPasskeyHost(portalUrl()),

    async registrationOptions(user, existing) {
      const { generateRegistrationOptions } = await webAuthn();
      return generateRegistrationOptions({
        rpName: RP_NAME,
        rpID: portalOf(portalUrl()).rpID,
        userID: userHandleOf(user.id),
        userName: user.email,
        userDisplayName: user.name ?? user.email,
        challenge: newChallenge(),
        timeout: TIMEOUT_MS,
        attestationType: 'none',
        excludeCredentials: existing.map(({ credentialId, transports }) => ({
          id: credentialId,
          transports: [...transports],
        })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
      });
    },

    async verifyRegistration(given, expectedChallenge) {
      const answer = readRegistrationAnswer(given);
      if (answer === undefined) return { refused: 'malformed' };
      if (!CHALLENGE_TEXT.test(expectedChallenge)) return { refused: 'unverified' };
      const library = await webAuthn();
      const wanted = expected(expectedChallenge);
      return orUnverified(() => verifyNew(library, answer, wanted));
    },

    async signInOptions() {
      const { generateAuthenticationOptions } = await webAuthn();
      const { rpID } = portalOf(portalUrl());
      const bounds = { timeout: TIMEOUT_MS, userVerification: 'required' } as const;
      return generateAuthenticationOptions({ rpID, challenge: newChallenge(), ...bounds });
    },

    credentialIdOf: (given) => readSignInAnswer(given)?.id,

    async verifySignIn(given, expectedChallenge, stored) {
      const answer = readSignInAnswer(given);
      if (answer === undefined) return { refused: 'malformed' };
      if (!CHALLENGE_TEXT.test(expectedChallenge)) return { refused: 'unverified' };
      const userHandle = userIdOfHandle(answer.response.userHandle);
      if (answer.id !== stored.credentialId || userHandle !== stored.userId) return { refused: 'foreign' };
      const library = await webAuthn();
      const wanted = expected(expectedChallenge);
      return orUnverified(() => verifyKnown(library, answer, wanted, stored));
    },
  };
}

type WebAuthn = typeof import('@simplewebauthn/server');

/** Loaded with the first passkey, because it takes a fifth of a second. */
function webAuthn(): Promise<WebAuthn> {
  return import('@simplewebauthn/server');
}

interface Expected {
  readonly expectedChallenge: string;
  readonly expectedOrigin: string;
  readonly expectedRPID: string;
  readonly requireUserVerification: boolean;
}

async function verifyNew(
  { verifyRegistrationResponse }: WebAuthn,
  answer: RegistrationResponseJSON,
  expected: Expected,
): Promise<NewPasskey | PasskeyRefusal> {
  if (!(await isWithoutCertificates(answer))) return { refused: 'unverified' };
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: answer,
    ...expected,
    supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
  });
  if (!verified) return { refused: 'unverified' };
  const { credential, aaguid, credentialDeviceType, credentialBackedUp: backedUp } = registrationInfo;
  const { id: credentialId, publicKey, counter } = credential;
  if (credentialId !== answer.id) return { refused: 'foreign' };
  const isLarge =
    Buffer.byteLength(credentialId, 'base64url') > CREDENTIAL_ID_BYTES_MAX || publicKey.length > PUBLIC_KEY_BYTES_MAX;
  if (isLarge || !(await isUsablePasskeyKey(publicKey))) return { refused: 'unverified' };
  // Read from a list of ours, in which there is no other word.
  const transports = (answer.response.transports ?? []) as PasskeyTransport[];
  const isSynced = credentialDeviceType === 'multiDevice';
  return { credentialId, publicKey, counter, transports, aaguid, isSynced, backedUp };
}

async function verifyKnown(
  { verifyAuthenticationResponse }: WebAuthn,
  answer: AuthenticationResponseJSON,
  expected: Expected,
  stored: StoredPasskey,
): Promise<PasskeySignIn | PasskeyRefusal> {
  // Every counter is ahead of 0: it is compared below, once the signature has proven it. Otherwise anybody who knows the id
  // of a passkey could have the operator told that it was cloned.
  const credential = { id: stored.credentialId, publicKey: new Uint8Array(stored.publicKey), counter: 0 };
  const found = await verifyAuthenticationResponse({ response: answer, credential, ...expected });
  const { newCounter, userVerified, credentialBackedUp: backedUp } = found.authenticationInfo;
  if (!found.verified || !userVerified) return { refused: 'unverified' };
  const doesCount = newCounter !== 0 || stored.counter !== 0;
  if (doesCount && newCounter <= stored.counter) return { refused: 'cloned' };
  return { newCounter, userVerified, userHandle: stored.userId, backedUp };
}

/**
 * We ask for no attestation, and browsers then send none, or one that the passkey signed itself. The library would check
 * others as well, and for that ask addresses for revoked certificates that stand in the answer.
 */
async function isWithoutCertificates({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, 'base64url')));
  const [format, statement]: readonly unknown[] = [decoded.get('fmt'), decoded.get('attStmt')];
  if (!(statement instanceof Map)) return false;
  return format === 'none' || (format === 'packed' && !statement.has('x5c'));
}

/** The library throws at whatever is not right, and so do the parsers in it at whatever an attacker makes up. */
async function orUnverified<T>(verify: () => Promise<T | PasskeyRefusal>): Promise<T | PasskeyRefusal> {
  try {
    return await verify();
  } catch {
    return { refused: 'unverified' };
  }
}

function newChallenge(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(randomText(LOWER_CASE_ALPHANUMERICS, CHALLENGE_CHARACTERS)));
}

/** Whether browsers make passkeys there: they do for names, and not for addresses of numbers. */
export function isPasskeyHost(portalUrl: string): boolean {
  return isIP(portalOf(portalUrl).rpID.replace(/^\[|\]$/g, '')) === 0;
}

function portalOf(text: string): { readonly rpID: string; readonly origin: string } {
  const url = parseUrl(text);
  assert(url !== undefined, 'the Portal has an address');
  return { rpID: url.hostname, origin: url.origin };
}
