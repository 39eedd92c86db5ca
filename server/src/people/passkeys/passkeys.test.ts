import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { certificatesIn } from '@strongroom/test-servers/certificates.js';
import type { Lies } from './authenticator-fixture.js';
import { SoftwareAuthenticator } from './authenticator-fixture.js';
import { PASSKEY_ANSWER_CHARACTERS_MAX } from './browser-answer.js';
import type { CborMap } from './cbor-fixture.js';
import { cbor } from './cbor-fixture.js';
import type { NewPasskey, StoredPasskey } from './passkeys.js';
import { createPasskeys } from './passkeys.js';

const PORTAL = 'https://vault.example.com:8443';
const ANN = { id: '6f0d3a54-6d0b-4f7e-9c53-0a8f3f0f5d11', email: 'ann@example.com', name: 'Ann' };
const BOB = { id: '11111111-6d0b-4f7e-9c53-0a8f3f0f5d11', email: 'bob@example.com' };
const passkeys = createPasskeys({ portalUrl: () => PORTAL });

function good<T extends object>(result: T): Exclude<T, { readonly refused: string }> {
  assert.ok(!('refused' in result), JSON.stringify(result));
  return result as Exclude<T, { readonly refused: string }>; // It has no such member.
}

async function register(authenticator = new SoftwareAuthenticator(PORTAL), user: typeof BOB = ANN, lies: Lies = {}) {
  const options = await passkeys.registrationOptions(user, []);
  const answer = authenticator.create(options, lies);
  return { options, answer, result: await passkeys.verifyRegistration(answer, options.challenge) };
}

async function registered(user: typeof BOB = ANN, lies: Lies = {}) {
  const authenticator = new SoftwareAuthenticator(PORTAL);
  const { publicKey, credentialId, counter }: NewPasskey = good((await register(authenticator, user, lies)).result);
  const stored: StoredPasskey = { userId: user.id, publicKey, credentialId, counter };
  return { authenticator, stored };
}

describe('a new passkey', () => {
  it('is asked for as a whole factor: discoverable, with the user verified, without attestation', async () => {
    const transports = ['usb'] as const;
    const options = await passkeys.registrationOptions(ANN, [{ credentialId: 'AAAA', transports }]);
    assert.deepEqual(options.rp, { name: 'Strongroom', id: 'vault.example.com' });
    assert.deepEqual(options.user, {
      id: Buffer.from(ANN.id.replaceAll('-', ''), 'hex').toString('base64url'),
      name: ANN.email,
      displayName: 'Ann',
    });
    assert.equal(options.attestation, 'none');
    assert.equal(options.authenticatorSelection?.userVerification, 'required');
    assert.equal(options.authenticatorSelection?.residentKey, 'required');
    assert.deepEqual(options.excludeCredentials, [{ id: 'AAAA', type: 'public-key', transports: ['usb'] }]);
    assert.deepEqual(
      options.pubKeyCredParams.map(({ alg }) => alg),
      [-7, -8, -257],
    );
    assert.notEqual((await passkeys.registrationOptions(ANN, [])).challenge, options.challenge);
  });

  it('is given back as it is to be stored, with the ways to it that are known', async () => {
    const authenticator = new SoftwareAuthenticator(PORTAL);
    authenticator.counter = 7;
    const transports = ['hybrid', 'smoke signals', 3, 'internal'];
    const { result } = await register(authenticator, ANN, { transports, isBackedUp: true });
    const { publicKey, ...rest } = good(result);
    assert.ok(publicKey.length > 70);
    assert.deepEqual(rest, {
      credentialId: authenticator.credentialId,
      counter: 7,
      transports: ['hybrid', 'internal'],
      aaguid: '00000000-0000-0000-0000-000000000000',
      isSynced: true,
      backedUp: true,
    });
  });

  it('on one device alone is neither synced nor backed up', async () => {
    const { isSynced, backedUp } = good((await register()).result);
    assert.deepEqual({ isSynced, backedUp }, { isSynced: false, backedUp: false });
  });

  for (const [what, lies] of Object.entries({
    'another origin': { origin: 'https://vault.example.com' },
    'plain HTTP': { origin: 'http://vault.example.com:8443' },
    'another Portal': { rpId: 'example.com' },
    'another challenge': { challenge: 'A'.repeat(43) },
    'an answer to a sign-in': { type: 'webauthn.get' },
    'a user who was not verified': { isUserVerified: false },
    'a user who was not present': { isUserPresent: false },
    'an unknown format': { attestation: { fmt: 'unheard-of', attStmt: new Map() } },
    'a key of an algorithm that was not offered': {
      publicKey: new Map<number, number | Buffer>([
        [1, 2],
        [3, -36],
        [-1, 3],
        [-2, Buffer.alloc(66)],
        [-3, Buffer.alloc(66)],
      ]),
    },
    'a point that is not on its curve': {
      publicKey: new Map<number, number | Buffer>([
        ...([
          [1, 2],
          [3, -7],
          [-1, 1],
        ] as const),
        [-2, Buffer.alloc(32, 1)],
        [-3, Buffer.alloc(32, 1)],
      ]),
    },
    'a short RSA key': {
      publicKey: new Map<number, number | Buffer>([
        ...([
          [1, 3],
          [3, -257],
        ] as const),
        [-1, Buffer.alloc(128, 0xff)],
        [-2, Buffer.from([1, 0, 1])],
      ]),
    },
    'a key that is none': { publicKey: new Map([[1, 2]]) },
  } satisfies Record<string, Lies>)) {
    it(`is refused for ${what}`, async () => {
      assert.deepEqual((await register(undefined, ANN, lies)).result, { refused: 'unverified' });
    });
  }

  it('is refused in a frame of another page', async () => {
    for (const lies of [{ crossOrigin: true }, { crossOrigin: 'no' }, { topOrigin: 'https://evil.example' }]) {
      assert.deepEqual((await register(undefined, ANN, lies)).result, { refused: 'malformed' });
    }
  });

  it('is refused when the answer names another id than the authenticator', async () => {
    assert.deepEqual((await register(undefined, ANN, { credentialId: 'AAAA' })).result, { refused: 'foreign' });
  });

  it('is refused when an answer is sent once more, to another challenge or to none', async () => {
    const { answer, options } = await register();
    const { challenge } = await passkeys.registrationOptions(ANN, []);
    assert.deepEqual(await passkeys.verifyRegistration(answer, challenge), { refused: 'unverified' });
    assert.deepEqual(await passkeys.verifyRegistration(answer, ''), { refused: 'unverified' });
    const forgotten = new SoftwareAuthenticator(PORTAL).create(options, { challenge: '' });
    assert.deepEqual(await passkeys.verifyRegistration(forgotten, ''), { refused: 'unverified' });
  });
});

describe('a key of a passkey', () => {
  const coseOf = (type: 'ed25519' | 'rsa'): CborMap => {
    const pair = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2_048 }) : generateKeyPairSync('ed25519');
    const { x = '', n = '', e = '' } = pair.publicKey.export({ format: 'jwk' });
    const [kty, alg] = type === 'rsa' ? [3, -257] : [1, -8];
    const first = type === 'rsa' ? Buffer.from(n, 'base64url') : 6;
    const second = Buffer.from(type === 'rsa' ? e : x, 'base64url');
    return new Map<number, number | Buffer>().set(1, kty).set(3, alg).set(-1, first).set(-2, second);
  };

  it('may be Ed25519 or RSA too', async () => {
    for (const type of ['ed25519', 'rsa'] as const) {
      const publicKey = coseOf(type);
      const found = good((await register(undefined, ANN, { publicKey })).result);
      assert.deepEqual(Buffer.from(found.publicKey), cbor(publicKey));
    }
  });
});

describe('an attestation of an authenticator', () => {
  /** FIDO U2F, the simplest format with a certificate: the library checks it, and finds it good. */
  it('with a certificate is refused before anything in it is followed', async () => {
    const folder = await mkdtemp('/tmp/sr-passkeys-');
    try {
      await certificatesIn(folder).makeAuthority('maker');
      const [key, pem] = await Promise.all(['key', 'pem'].map((end) => readFile(`${folder}/maker.${end}`, 'utf8')));
      const certificate = Buffer.from((pem ?? '').replace(/-----[^-]+-----/g, ''), 'base64');
      const options = await passkeys.registrationOptions(ANN, []);
      const authenticator = new SoftwareAuthenticator(PORTAL);
      const { response } = authenticator.create(options);
      const { x, y } = pointOf(
        good(await passkeys.verifyRegistration(authenticator.create(options), options.challenge)),
      );
      const signed = Buffer.concat([
        ...[Buffer.from([0]), createHash('sha256').update('vault.example.com').digest()],
        createHash('sha256').update(Buffer.from(response.clientDataJSON, 'base64url')).digest(),
        ...[Buffer.from(authenticator.credentialId, 'base64url'), Buffer.from([4]), x, y],
      ]);
      const attStmt: CborMap = new Map<string, Buffer | Buffer[]>([
        ['sig', sign('sha256', signed, key ?? '')],
        ['x5c', [certificate]],
      ]);
      const answer = authenticator.create(options, { attestation: { fmt: 'fido-u2f', attStmt } });
      assert.deepEqual(await passkeys.verifyRegistration(answer, options.challenge), { refused: 'unverified' });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('that the passkey signed itself is good, and refused where it was changed', async () => {
    const { credentialId } = good((await register(undefined, ANN, { attestation: 'self' })).result);
    assert.ok(credentialId.length > 40);
    const changed: Lies = { attestation: 'self', spoil: (data) => data.writeUInt32BE(99, 33) };
    assert.deepEqual((await register(undefined, ANN, changed)).result, { refused: 'unverified' });
  });

  it('that pretends to be none is refused', async () => {
    const attestation = { fmt: 'none', attStmt: new Map([['sig', Buffer.alloc(8)]]) };
    assert.deepEqual((await register(undefined, ANN, { attestation })).result, { refused: 'unverified' });
  });
});

function pointOf({ publicKey }: NewPasskey): { x: Buffer; y: Buffer } {
  const bytes = Buffer.from(publicKey); // A map of five that ends in -2: x, -3: y, of 32 bytes each.
  return { x: bytes.subarray(-67, -35), y: bytes.subarray(-32) };
}

describe('a sign-in with a passkey', () => {
  it('is asked for in the same way of everybody', async () => {
    const { challenge, ...rest } = await passkeys.signInOptions();
    assert.match(challenge, /^[\w-]{43}$/);
    assert.deepEqual(JSON.parse(JSON.stringify(rest)), {
      rpId: 'vault.example.com',
      timeout: 300_000,
      userVerification: 'required',
    });
    assert.notEqual((await passkeys.signInOptions()).challenge, challenge);
  });

  it('tells the user and the new counter', async () => {
    const { authenticator, stored } = await registered();
    authenticator.counter = 5;
    const options = await passkeys.signInOptions();
    const answer = authenticator.get(options, { isBackedUp: true });
    assert.equal(passkeys.credentialIdOf(answer), stored.credentialId);
    assert.deepEqual(await passkeys.verifySignIn(answer, options.challenge, stored), {
      newCounter: 5,
      userVerified: true,
      userHandle: ANN.id,
      backedUp: true,
    });
  });

  it('is good again and again with an authenticator that does not count', async () => {
    const { authenticator, stored } = await registered();
    for (let round = 0; round < 2; round += 1) {
      const options = await passkeys.signInOptions();
      const found = await passkeys.verifySignIn(authenticator.get(options), options.challenge, stored);
      assert.equal(good(found).newCounter, 0);
    }
  });

  for (const [what, lies] of Object.entries({
    'another origin': { origin: 'https://vault.example.com.evil.example:8443' },
    'another Portal': { rpId: 'evil.example' },
    'another challenge': { challenge: 'A'.repeat(43) },
    'an answer to a registration': { type: 'webauthn.create' },
    'a user who was not verified': { isUserVerified: false },
    'a user who was not present': { isUserPresent: false },
    'a counter that was changed on the way': { spoil: (data) => data.writeUInt32BE(99, 33) },
    'a flag that was set on the way': { isUserVerified: false, spoil: (data) => data.writeUInt8(0x05, 32) },
  } satisfies Record<string, Lies>)) {
    it(`is refused for ${what}`, async () => {
      const { authenticator, stored } = await registered();
      const options = await passkeys.signInOptions();
      const answer = authenticator.get(options, lies);
      assert.deepEqual(await passkeys.verifySignIn(answer, options.challenge, stored), { refused: 'unverified' });
    });
  }

  it('is refused for a signature with one bit changed, and for one of another key', async () => {
    const { authenticator, stored } = await registered();
    const options = await passkeys.signInOptions();
    const answer = authenticator.get(options);
    const signature = Buffer.from(answer.response.signature, 'base64url');
    signature.writeUInt8(signature.readUInt8(signature.length - 1) ^ 1, signature.length - 1);
    const tampered = { ...answer, response: { ...answer.response, signature: signature.toString('base64url') } };
    assert.deepEqual(await passkeys.verifySignIn(tampered, options.challenge, stored), { refused: 'unverified' });
    const thief = await registered();
    const { credentialId } = stored;
    const stolen = thief.authenticator.get(options, { credentialId });
    assert.deepEqual(await passkeys.verifySignIn(stolen, options.challenge, stored), { refused: 'unverified' });
  });

  it('is refused with the passkey of somebody else, whoever the answer says it is', async () => {
    const [ann, bob] = [await registered(ANN), await registered(BOB)];
    const options = await passkeys.signInOptions();
    const asBob = Buffer.from(BOB.id.replaceAll('-', ''), 'hex').toString('base64url');
    const answers = [
      [bob.authenticator.get(options), ann.stored],
      [ann.authenticator.get(options, { userHandle: asBob }), ann.stored],
      [ann.authenticator.get(options, { userHandle: 'AAAA' }), ann.stored],
      [ann.authenticator.get(options), { ...ann.stored, userId: BOB.id }],
      [(await registered(ANN)).authenticator.get(options), ann.stored],
    ] as const;
    for (const [answer, stored] of answers) {
      assert.deepEqual(await passkeys.verifySignIn(answer, options.challenge, stored), { refused: 'foreign' });
    }
  });

  it('is refused when an answer is sent once more: to another challenge, and to the same with its counter', async () => {
    const { authenticator, stored } = await registered();
    authenticator.counter = 3;
    const options = await passkeys.signInOptions();
    const answer = authenticator.get(options);
    const { newCounter } = good(await passkeys.verifySignIn(answer, options.challenge, stored));
    const { challenge } = await passkeys.signInOptions();
    assert.deepEqual(await passkeys.verifySignIn(answer, challenge, stored), { refused: 'unverified' });
    const again = await passkeys.verifySignIn(answer, options.challenge, { ...stored, counter: newCounter });
    assert.deepEqual(again, { refused: 'cloned' });
  });

  it('tells a clone by a counter that goes back, stays or ends, and only with a good signature', async () => {
    const { authenticator, stored } = await registered();
    const options = await passkeys.signInOptions();
    for (const counter of [9, 10, 0]) {
      const answer = authenticator.get(options, { counter });
      const known = { ...stored, counter: 10 };
      assert.deepEqual(await passkeys.verifySignIn(answer, options.challenge, known), { refused: 'cloned' });
      const forged = authenticator.get(options, { counter, spoil: (data) => data.writeUInt32BE(1, 33) });
      assert.deepEqual(await passkeys.verifySignIn(forged, options.challenge, known), { refused: 'unverified' });
    }
  });
});

describe('whatever else a browser may send', () => {
  const challenge = 'A'.repeat(43);
  const stored: StoredPasskey = { userId: ANN.id, credentialId: 'AAAA', publicKey: Buffer.alloc(77), counter: 0 };
  const deep = `${'gQ'.repeat(10_000)}`;
  const huge = 'A'.repeat(PASSKEY_ANSWER_CHARACTERS_MAX);

  it('is refused as malformed when it has another shape or is too large', async () => {
    const { answer } = await register();
    const options = await passkeys.signInOptions();
    const signIn = (await registered()).authenticator.get(options);
    const odd: unknown[] = [undefined, null, 0, '', 'text', true, [], {}, [answer], { ...answer, id: 1, rawId: 1 }];
    for (const whole of [answer, signIn]) {
      odd.push({ ...whole, type: 'password' }, { ...whole, rawId: 'BBBB' }, { ...whole, id: '', rawId: '' });
      odd.push({ ...whole, response: null }, { ...whole, response: [] }, { ...whole, response: 'x' });
      for (const name of Object.keys(whole.response).filter((each) => each !== 'transports')) {
        for (const value of [undefined, null, 7, {}, [], '', 'a b', 'a+/=', 'é', huge]) {
          odd.push({ ...whole, response: { ...whole.response, [name]: value } });
        }
      }
      for (const data of ['null', '[]', '3', '{', '\ufeff{}', '{"crossOrigin":1}']) {
        const clientDataJSON = Buffer.from(data).toString('base64url');
        odd.push({ ...whole, response: { ...whole.response, clientDataJSON } });
      }
    }
    for (const each of odd) {
      const text = JSON.stringify(each)?.slice(0, 200);
      assert.deepEqual(await passkeys.verifyRegistration(each, challenge), { refused: 'malformed' }, text);
      assert.deepEqual(await passkeys.verifySignIn(each, challenge, stored), { refused: 'malformed' }, text);
      assert.equal(passkeys.credentialIdOf(each), undefined, text);
    }
  });

  it('is refused as unverified when its bytes are no passkey: nested, cut, endless or empty CBOR', async () => {
    const { answer, options } = await register();
    const whole = Buffer.from(answer.response.attestationObject, 'base64url');
    const objects = [deep, 'oA', '_____w', 'v2Nmb3Jt', 'uv__________', 'm___________', 'AAAA'];
    for (let at = 1; at < whole.length; at += 7) objects.push(whole.subarray(0, at).toString('base64url'));
    const maps = [
      new Map([['fmt', 'none']]),
      new Map<string, string | number>(Object.entries({ fmt: 'none', authData: 3 })),
    ];
    for (const map of maps) objects.push(cbor(map).toString('base64url'));
    for (const attestationObject of objects) {
      const changed = { ...answer, response: { ...answer.response, attestationObject } };
      const result = await passkeys.verifyRegistration(changed, options.challenge);
      assert.deepEqual(result, { refused: 'unverified' }, attestationObject.slice(0, 100));
    }
  });

  it('is refused as unverified when the data of the authenticator are cut or have something behind them', async () => {
    const { authenticator, stored: known } = await registered();
    const options = await passkeys.signInOptions();
    const answer = authenticator.get(options);
    const data = Buffer.from(answer.response.authenticatorData, 'base64url');
    for (const bytes of [data.subarray(0, 36), Buffer.concat([data, Buffer.from([0])]), Buffer.alloc(40_000, 0xff)]) {
      const response = { ...answer.response, authenticatorData: bytes.toString('base64url') };
      const result = await passkeys.verifySignIn({ ...answer, response }, options.challenge, known);
      assert.deepEqual(result, { refused: 'unverified' });
    }
  });
});
