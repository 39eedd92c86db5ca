import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import type { IssuerLies, IssuerReply } from '@strongroom/test-servers/openid-issuer.js';
import { AppError } from '../../kernel/errors.js';
import type { OidcIssuer } from './issuers-file.js';
import type { IssuerPair, OidcTrial } from './oidc-fixture.js';
import { oidcTrial, startIssuerPair, stopLying } from './oidc-fixture.js';

const ANN = { sub: 'ann-1', email: 'ann@example.com' };
/** For an issuer that never answers: no request has to be done within it. */
const IMPATIENT_MS = 100;

async function failureOf(asked: Promise<unknown>): Promise<AppError> {
  const error = await asked.then(
    () => assert.fail('it did not fail'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof AppError, String(error));
  assert.equal(error.status, 503);
  assert.equal(error.headers['Retry-After'], '10');
  return error;
}

describe('an issuer that fails', () => {
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

  function trial(timeoutMs?: number, changes: Partial<OidcIssuer> = {}): OidcTrial {
    const made = oidcTrial(pair, changes, timeoutMs);
    trials.push(made);
    return made;
  }

  const REPLIES: Readonly<Record<string, IssuerReply>> = {
    'answers 500': { status: 500, body: '{}' },
    'answers garbage': { status: 200, body: '<html>' },
    'answers a list': { status: 200, body: '[]' },
    'answers nothing': { status: 200, body: '' },
    'answers 404 in HTML': { status: 404, body: '<html>' },
    'answers more than a megabyte': { status: 200, body: JSON.stringify({ x: 'x'.repeat(1024 * 1024) }) },
    redirects: { status: 302, headers: { Location: '/elsewhere' }, body: '{}' },
  };

  for (const [what, reply] of Object.entries(REPLIES)) {
    it(`503 when it ${what}, for its document, its token and its keys; no redirect is followed`, async () => {
      for (const path of ['/.well-known/openid-configuration', '/token', '/keys']) {
        stopLying(pair);
        const { oidc } = trial();
        pair.a.lies.replyTo = (asked) => (asked === path ? reply : undefined);
        const whole = async (): Promise<unknown> => {
          const { url, transaction } = await oidc.begin('a');
          return oidc.finish(transaction, pair.a.agree(url, ANN));
        };
        await failureOf(whole());
        assert.equal(pair.a.asked.at(-1), path);
      }
    });
  }

  it('503 when it hangs, and at once for whoever comes in the next ten seconds; the other one goes on', async () => {
    pair.a.lies.replyTo = () => 'silence';
    const { oidc, clock } = trial(IMPATIENT_MS);
    const failures = await Promise.all([failureOf(oidc.begin('a')), failureOf(oidc.begin('a'))]);
    assert.match(String(failures[0]?.cause), /failed \(timeout\)/);
    clock.advance(9_999);
    await failureOf(oidc.begin('a'));
    assert.ok(pair.a.asked.length <= 1);
    stopLying(pair);
    clock.advance(1);
    const patient = trial();
    assert.ok((await patient.oidc.begin('a')).url.startsWith(pair.a.url));
    assert.ok((await patient.oidc.begin('b')).url.startsWith(pair.b.url));
  });

  it('is asked again after ten seconds', async () => {
    pair.a.lies.replyTo = () => ({ status: 500, body: '' });
    const { oidc, clock } = trial();
    await failureOf(oidc.begin('a'));
    stopLying(pair);
    await failureOf(oidc.begin('a'));
    assert.deepEqual(pair.a.asked, []);
    clock.advance(10_000);
    assert.ok((await oidc.begin('a')).url.startsWith(pair.a.url));
  });

  for (const [what, document] of Object.entries({
    'another issuer': { issuer: 'https://b.test' },
    'an issuer that is no text': { issuer: 7 },
    'an endpoint without TLS': { token_endpoint: 'http://a.test/token' },
    'a page for the browser without TLS': { authorization_endpoint: 'http://a.test/authorize' },
    'a page for the browser that is a script': { authorization_endpoint: 'javascript:alert(1)' },
    'no keys': { jwks_uri: undefined },
    'no algorithm but HS256 and none': { id_token_signing_alg_values_supported: ['HS256', 'none'] },
    'algorithms that are no list': { id_token_signing_alg_values_supported: 'RS256' },
  } satisfies Record<string, NonNullable<IssuerLies['document']>>)) {
    it(`503 for a document with ${what}`, async () => {
      Object.assign(pair.a.lies, { document });
      await failureOf(trial().oidc.begin('a'));
    });
  }

  it('503 when a host names another issuer for which the library makes an exception', async () => {
    const { port } = new URL(pair.a.url);
    const { oidc } = trial(undefined, { issuer: `https://x.b2clogin.com:${port}/` });
    assert.match(String((await failureOf(oidc.begin('a'))).cause), /names another issuer/);
    assert.equal(pair.a.asked.length, 1);
  });

  it('503 when its document leads to another host: only hosts that the operator named are dialled', async () => {
    const { port } = new URL(pair.b.url);
    for (const host of ['c.test', '127.0.0.1', 'localhost', 'nowhere.test']) {
      const { oidc, way } = trial();
      Object.assign(pair.a.lies, { document: { token_endpoint: `https://${host}:${port}/token` } });
      const { url, transaction } = await oidc.begin('a');
      const dialled = way.dialled.length;
      await failureOf(oidc.finish(transaction, pair.a.agree(url, ANN)));
      assert.equal(way.dialled.length, dialled, host);
      assert.deepEqual(way.refusals.at(-1), { tenantId: 'strongroom', reason: 'port', host });
    }
  });

  it('tells neither secret, code nor token in its failure', async () => {
    const { oidc } = trial();
    pair.a.lies.replyTo = (path) => (path === '/keys' ? { status: 500, body: '{}' } : undefined);
    const { url, transaction } = await oidc.begin('a');
    const callback = pair.a.agree(url, ANN);
    const text = inspect(await failureOf(oidc.finish(transaction, callback)), { depth: 20 });
    const { code, state } = Object.fromEntries(new URL(callback).searchParams);
    const secrets = [code, state, 'hush', 'eyJ', transaction.codeVerifier, transaction.nonce, 'ann@'];
    for (const secret of secrets) assert.ok(!text.includes(secret ?? ''), text);
  });
});
