import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import type { IssuerLies } from '@strongroom/test-servers/openid-issuer.js';
import { AppError } from '../../kernel/errors.js';
import { Secret } from '../../kernel/secret.js';
import type { IssuerPair, OidcTrial } from './oidc-fixture.js';
import { OIDC_PORTAL, oidcTrial, startIssuerPair, stopLying } from './oidc-fixture.js';

const ANN = { sub: 'ann-1', email: 'ann@example.com', email_verified: true, name: 'Ann' };
const HOUR_MS = 3_600_000;
const seconds = (ms: number): number => Math.floor(ms / 1_000);

describe('sign-in with an issuer', () => {
  let pair: IssuerPair;
  const trials: OidcTrial[] = [];
  before(async () => {
    pair = await startIssuerPair();
  });
  afterEach(() => stopLying(pair));
  after(async () => {
    for (const { way } of trials) await way.close();
    await pair.close();
  });

  function trial(...changes: Parameters<typeof oidcTrial> extends [unknown, ...infer Rest] ? Rest : never): OidcTrial {
    const made = oidcTrial(pair, ...changes);
    trials.push(made);
    return made;
  }

  /** From the button to the return, with an issuer that may lie. */
  async function signIn(id: 'a' | 'b', lies: IssuerLies = {}, claims: object = ANN, { oidc } = trial()) {
    Object.assign(pair[id].lies, lies);
    const { url, transaction } = await oidc.begin(id);
    return oidc.finish(transaction, pair[id].agree(url, { ...claims }));
  }

  it('lists the issuers by id and name, and tells the address to register for each', () => {
    const { oidc } = trial();
    assert.deepEqual(oidc.list(), [
      { id: 'a', name: 'Issuer a', issuer: `${pair.a.url}/`, hasSecondFactor: false },
      { id: 'b', name: 'Issuer b', issuer: `${pair.b.url}/`, hasSecondFactor: false },
    ]);
    assert.equal(oidc.redirectUri('b'), `${OIDC_PORTAL}/portal/api/oidc/callback/b`);
    assert.equal(oidc.redirectUri('c'), undefined);
  });

  it('404 for an issuer that is not there', async () => {
    await assert.rejects(trial().oidc.begin('c'), (error) => error instanceof AppError && error.status === 404);
  });

  it('sends the browser to the issuer with state, nonce and PKCE, new ones each time', async () => {
    const { oidc, clock } = trial();
    const [one, two] = [await oidc.begin('a'), await oidc.begin('a')];
    const url = new URL(one.url);
    assert.equal(`${url.origin}${url.pathname}`, `${pair.a.url}/authorize`);
    const { state, nonce, codeVerifier, ...rest } = one.transaction;
    assert.deepEqual(Object.fromEntries(url.searchParams), {
      ...{ client_id: 'portal', response_type: 'code', scope: 'openid email', state, nonce },
      redirect_uri: `${OIDC_PORTAL}/portal/api/oidc/callback/a`,
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    assert.deepEqual(rest, { issuerId: 'a', asksAgain: false, expiresAtMs: clock.nowMs() + 600_000 });
    const secrets = [one, two].flatMap(({ transaction: { state: s, nonce: n, codeVerifier: v } }) => [s, n, v]);
    assert.equal(new Set(secrets).size, 6);
    assert.ok(secrets.every((secret) => /^[0-9A-Za-z]{43}$/.test(secret)));
  });

  for (const [id, algorithm] of [
    ['a', 'RS256'],
    ['b', 'ES256'],
  ] as const) {
    it(`tells who came back, by a token signed with ${algorithm}`, async () => {
      assert.deepEqual(await signIn(id), {
        identity: {
          issuer: pair[id].url,
          subject: 'ann-1',
          email: 'ann@example.com',
          emailVerified: true,
          name: 'Ann',
        },
        issuerId: id,
        hasSecondFactor: false,
      });
    });
  }

  it('takes a path with its query for the return, and a transaction that was JSON meanwhile', async () => {
    const { oidc } = trial();
    const { url, transaction } = await oidc.begin('a');
    const { pathname, search } = new URL(pair.a.agree(url, ANN));
    const found = await oidc.finish(JSON.parse(JSON.stringify(transaction)), `${pathname}${search}`);
    assert.ok('identity' in found, JSON.stringify(found));
  });

  it('sends the secret in the form to an issuer that reads it there alone', async () => {
    const document = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    assert.ok('identity' in (await signIn('a', { document })));
  });

  it('leaves out addresses and names that are none, and trusts an address only where the issuer says so', async () => {
    const identity = { issuer: pair.a.url, subject: 's', emailVerified: false };
    const { email } = ANN;
    for (const [claims, expected] of [
      [{}, {}],
      [{ email }, { email }],
      [{ email, email_verified: 'yes' }, { email }],
      [{ email, email_verified: 1 }, { email }],
      [
        { email, email_verified: 'true' },
        { email, emailVerified: true },
      ],
      [{ email: 'a@b\r\nBcc: c@d', email_verified: true }, {}],
      [{ email: ['ann@example.com'], email_verified: true }, {}],
      [{ name: 'a\nb' }, {}],
      [{ name: 'x'.repeat(201) }, {}],
      [{ name: { first: 'x' } }, {}],
      [{ refused: 'token' }, {}],
    ] as const) {
      const found = await signIn('a', {}, { sub: 's', ...claims });
      assert.deepEqual('identity' in found && found.identity, { ...identity, ...expected });
    }
  });

  it('has an issuer ask anew whoever is signed in, and takes no word of one that did not', async () => {
    const { oidc, clock } = trial();
    const askAgain = async (claims: object) => {
      const { url, transaction } = await oidc.begin('a', { asksAgain: true });
      const { searchParams } = new URL(url);
      assert.deepEqual([searchParams.get('prompt'), searchParams.get('max_age')], ['login', '600']);
      return oidc.finish(transaction, pair.a.agree(url, { ...ANN, ...claims }));
    };
    const nowSeconds = Math.floor(clock.nowMs() / 1_000);
    const found = await askAgain({ auth_time: nowSeconds - 5 });
    assert.equal('identity' in found && found.identity.authenticatedAtMs, (nowSeconds - 5) * 1_000);
    for (const claims of [{}, { auth_time: nowSeconds - 3_600 }, { auth_time: 'now' }]) {
      assert.equal(((await askAgain(claims)) as { refused?: string }).refused, 'token');
    }
  });

  it('asks for the document once an hour', async () => {
    const { oidc, clock } = trial();
    const documents = (): number => pair.a.asked.filter((path) => path.includes('well-known')).length;
    await Promise.all([oidc.begin('a'), oidc.begin('a')]);
    clock.advance(HOUR_MS - 1);
    await oidc.begin('a');
    assert.equal(documents(), 1);
    clock.advance(1);
    await oidc.begin('a');
    assert.equal(documents(), 2);
  });

  describe('is refused', () => {
    it('when an answer is sent once more: a code is good once', async () => {
      const { oidc } = trial();
      const { url, transaction } = await oidc.begin('a');
      const callback = pair.a.agree(url, ANN);
      assert.ok('identity' in (await oidc.finish(transaction, callback)));
      assert.deepEqual(await oidc.finish(transaction, callback), { refused: 'code' });
    });

    it('with the state of another sign-in, without one or with two, and nothing is asked of the issuer', async () => {
      const { oidc } = trial();
      const [mine, theirs] = [await oidc.begin('a'), await oidc.begin('a')];
      const asked = pair.a.asked.length;
      const callback = new URL(pair.a.agree(theirs.url, ANN));
      assert.deepEqual(await oidc.finish(mine.transaction, callback.href), { refused: 'state' });
      callback.searchParams.append('state', mine.transaction.state);
      assert.deepEqual(await oidc.finish(mine.transaction, callback.href), { refused: 'callback' });
      callback.searchParams.delete('state');
      assert.deepEqual(await oidc.finish(mine.transaction, callback.href), { refused: 'state' });
      assert.equal(pair.a.asked.length, asked);
    });

    it('with a code that was put into another browser’s sign-in: PKCE does not fit', async () => {
      const { oidc } = trial();
      const [mine, theirs] = [await oidc.begin('a'), await oidc.begin('a')];
      const callback = new URL(pair.a.agree(theirs.url, ANN));
      callback.searchParams.set('state', mine.transaction.state);
      assert.deepEqual(await oidc.finish(mine.transaction, callback.href), { refused: 'code' });
    });

    it('with a transaction that is none, is too old or is of an issuer that is gone', async () => {
      const { oidc, clock } = trial();
      const { url, transaction } = await oidc.begin('a');
      const callback = pair.a.agree(url, ANN);
      const odd = [undefined, null, '', 'text', 7, [], {}, { ...transaction, state: '' }, { ...transaction, nonce: 7 }];
      odd.push({ ...transaction, issuerId: 'gone' }, { ...transaction, codeVerifier: undefined });
      odd.push({ ...transaction, expiresAtMs: String(transaction.expiresAtMs) });
      for (const each of odd) assert.deepEqual(await oidc.finish(each, callback), { refused: 'transaction' });
      clock.advance(600_000);
      assert.deepEqual(await oidc.finish(transaction, callback), { refused: 'transaction' });
    });

    it('when the return is to the address of another issuer, to none, or too long', async () => {
      const { oidc } = trial();
      const { url, transaction } = await oidc.begin('a');
      const callback = pair.a.agree(url, ANN);
      const query = new URL(callback).search;
      for (const wrong of [
        callback.replace('callback/a', 'callback/b'),
        `${callback}&x=${'x'.repeat(16_384)}`,
        `/portal/api/oidc/callback/a/..${query}`,
        query,
        '',
        'https://',
        `//evil.example${query}`,
      ]) {
        assert.deepEqual(await oidc.finish(transaction, wrong), { refused: 'callback' }, wrong.slice(0, 80));
      }
    });

    it('when the issuer says no, in words that are not repeated', async () => {
      const { oidc } = trial();
      const { transaction } = await oidc.begin('a');
      const words = { error: 'access_denied', error_description: 'https://evil.example', iss: pair.a.url };
      const query = new URLSearchParams({ ...words, state: transaction.state });
      assert.deepEqual(await oidc.finish(transaction, `/portal/api/oidc/callback/a?${query}`), { refused: 'denied' });
    });

    it('when the answer is of another issuer, with its name or without it', async () => {
      const { oidc } = trial();
      const { url, transaction } = await oidc.begin('a');
      // The attacker sends the browser on to the other issuer, with everything of the first sign-in.
      const callback = pair.b.agree(url, ANN);
      assert.deepEqual(await oidc.finish(transaction, callback), { refused: 'issuer' });
      const nameless = new URL(callback);
      nameless.searchParams.delete('iss');
      assert.deepEqual(await oidc.finish(transaction, nameless.href), { refused: 'issuer' });
      assert.ok(!pair.a.asked.includes('/token') && !pair.b.asked.includes('/token'));
    });

    it('when an issuer that never says its name is mixed up with another: the return has another address', async () => {
      Object.assign(pair.a.lies, { document: { authorization_response_iss_parameter_supported: false } });
      Object.assign(pair.b.lies, { document: { authorization_response_iss_parameter_supported: false } });
      const { oidc } = trial();
      const [first, second] = [await oidc.begin('a'), await oidc.begin('b')];
      const toOther = new URL(second.url);
      toOther.searchParams.set('state', first.transaction.state);
      pair.b.lies.namesItself = false;
      const callback = pair.b.agree(toOther.href, ANN);
      assert.deepEqual(await oidc.finish(first.transaction, callback), { refused: 'callback' });
      const own = pair.b.agree(second.url, ANN);
      assert.ok('identity' in (await oidc.finish(second.transaction, own)), 'such an issuer is good without a name');
    });

    const now = seconds(Date.now());
    for (const [what, lies] of Object.entries({
      'another nonce': { claims: { nonce: 'n'.repeat(43) } },
      'no nonce': { claims: { nonce: undefined } },
      'the token of another client': { claims: { aud: 'other' } },
      'a token for another client too': { claims: { aud: ['portal', 'other'] } },
      'a token for many clients that was given to another': { claims: { aud: ['portal', 'other'], azp: 'other' } },
      'an expired token': { claims: { exp: now - 3_600 } },
      'a token without an end': { claims: { exp: undefined } },
      'a token that is not good yet': { claims: { nbf: now + 3_600 } },
      'another issuer in the token': { claims: { iss: 'https://a.test' } },
      'an issuer that is only written in another way': { claims: { iss: 'HTTPS://A.TEST' } },
      'a token without a subject': { claims: { sub: undefined } },
      'a subject that is empty': { claims: { sub: '' } },
      'a subject that is too long': { claims: { sub: 's'.repeat(256) } },
      'a subject that is a number': { claims: { sub: 7 } },
      'a token without a signature': { signature: 'none' },
      'a token without a signature of an issuer that announces it': {
        signature: 'none',
        document: { id_token_signing_alg_values_supported: ['RS256', 'none'] },
      },
      'HS256 with the published key': { signature: 'HS256' },
      'HS256 of an issuer that announces it': {
        signature: 'HS256',
        document: { id_token_signing_alg_values_supported: ['RS256', 'HS256'] },
      },
      'a key that is not published': { signature: 'stranger' },
    } satisfies Record<string, IssuerLies>)) {
      it(`for ${what}`, async () => {
        const found = await signIn('a', lies);
        assert.ok('refused' in found && found.refused === 'token', JSON.stringify(found));
        assert.match(found.code ?? 'OAUTH_', /^OAUTH_\w*$/);
      });
    }
  });

  it('503 when the issuer does not take our secret: that is the operator’s to mend', async () => {
    const wrong = trial({ clientSecret: new Secret('wrong') });
    await assert.rejects(signIn('a', {}, ANN, wrong), (error) => error instanceof AppError && error.status === 503);
  });
});
