import type { KeyObject } from 'node:crypto';
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { CborMap } from './cbor-fixture.js';
import { cbor } from './cbor-fixture.js';

const FLAGS = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10, attested: 0x40 };

/** What a test changes of an honest answer. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly crossOrigin?: unknown;
  readonly topOrigin?: string;
  readonly isUserVerified?: boolean;
  readonly isUserPresent?: boolean;
  readonly isBackedUp?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly credentialId?: string;
  /** `self` is signed by the passkey. */
  readonly attestation?: { readonly fmt: string; readonly attStmt: CborMap } | 'self';
  readonly publicKey?: CborMap;
  readonly transports?: unknown;
  /** Changes the authenticator data after they were signed. */
  readonly spoil?: (authenticatorData: Buffer) => void;
}

/** What `navigator.credentials` would be given and give, with a P-256 key in memory. */
export class SoftwareAuthenticator {
  readonly #privateKey: KeyObject;
  readonly #publicKey: CborMap;
  readonly #origin: string;
  #userHandle = '';
  counter = 0;
  readonly credentialId = randomBytes(32).toString('base64url');

  constructor(origin: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    this.#privateKey = privateKey;
    this.#publicKey = new Map<number, number | Buffer>([
      ...([[1, 2] as const, [3, -7] as const, [-1, 1] as const] as const),
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    this.#origin = origin;
  }

  create(options: { challenge: string; user: { id: string }; rp: { id?: string } }, lies: Lies = {}) {
    this.#userHandle = options.user.id;
    const id = Buffer.from(this.credentialId, 'base64url');
    const length = Buffer.from([id.length >> 8, id.length & 0xff]);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, cbor(lies.publicKey ?? this.#publicKey)]);
    const authData = Buffer.concat([this.#authenticatorData(options.rp.id, FLAGS.attested, lies), attested]);
    const clientData = this.#clientData('webauthn.create', options.challenge, lies);
    const given = lies.attestation === 'self' ? this.#signedBySelf(authData, clientData) : lies.attestation;
    const { fmt, attStmt } = given ?? { fmt: 'none', attStmt: new Map() };
    lies.spoil?.(authData);
    const attestationObject = cbor(
      new Map<string, string | CborMap | Buffer>(Object.entries({ fmt, attStmt, authData })),
    );
    return this.#answer(lies, {
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: lies.transports ?? ['internal', 'hybrid'],
    });
  }

  get(options: { challenge: string; rpId?: string }, lies: Lies = {}) {
    const clientData = this.#clientData('webauthn.get', options.challenge, lies);
    const authenticatorData = this.#authenticatorData(options.rpId, 0, lies);
    const signature = this.#sign(authenticatorData, clientData);
    lies.spoil?.(authenticatorData);
    return this.#answer(lies, {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: lies.userHandle ?? this.#userHandle,
    });
  }

  #signedBySelf(authData: Buffer, clientData: Buffer) {
    const sig = this.#sign(authData, clientData);
    return { fmt: 'packed', attStmt: new Map<string, number | Buffer>(Object.entries({ alg: -7, sig })) };
  }

  #sign(authenticatorData: Buffer, clientData: Buffer): Buffer {
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
    return sign('sha256', signed, this.#privateKey);
  }

  #answer<R>({ credentialId: id = this.credentialId }: Lies, response: R) {
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }

  #clientData(type: string, challenge: string, lies: Lies): Buffer {
    const { crossOrigin = false, topOrigin } = lies;
    const honest = { type, challenge, origin: this.#origin, crossOrigin, topOrigin };
    return Buffer.from(
      JSON.stringify({
        ...honest,
        ...(lies.type !== undefined && { type: lies.type }),
        ...(lies.challenge !== undefined && { challenge: lies.challenge }),
        ...(lies.origin !== undefined && { origin: lies.origin }),
      }),
    );
  }

  #authenticatorData(rpId: string | undefined, more: number, lies: Lies): Buffer {
    const rpIdHash = createHash('sha256')
      .update(lies.rpId ?? rpId ?? '')
      .digest();
    const flags =
      more |
      (lies.isUserPresent === false ? 0 : FLAGS.userPresent) |
      (lies.isUserVerified === false ? 0 : FLAGS.userVerified) |
      (lies.isBackedUp ? FLAGS.backupEligible | FLAGS.backedUp : 0);
    const rest = Buffer.alloc(5);
    rest.writeUInt8(flags);
    rest.writeUInt32BE(lies.counter ?? this.counter, 1);
    return Buffer.concat([rpIdHash, rest]);
  }
}
