import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertNeedsKey, assertProblem } from './client.js';
import { ENDPOINTS, METHODS_BY_PATH, RESOURCES } from './endpoints.js';
import type { Endpoint } from './resource.js';
import type { Subject } from './subject.js';
import type { Application, Session, Token, Vault } from './vault.js';
import { openVault, post, UNKNOWN_ID } from './vault.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const TEMPLATE = '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a01';

/** POST that looks at tokens, or tries code. */
const CHANGES_NOTHING = /search$|^\/detokenize$|\/test$|\/preview$/;

/** What endpoints have in common, tried on each of them as the index lists it. */
export function refusals(subject: () => Subject): void {
  let vault: Vault;
  let tokenId: string;
  let tokenOfStranger: string;
  let applicationId: string;
  let keyId: string;
  /** What resources make themselves, by the paths it is for. */
  const made = new Map<string, string>();
  /** The address of something that is there. */
  function address(path: string, id?: string): string {
    const there = path.startsWith('/tokens') ? tokenId : applicationId;
    const own = path.startsWith('/application-templates') ? TEMPLATE : (made.get(path) ?? there);
    return path.replace('{id}', id ?? own).replace('{key_id}', keyId);
  }

  /** A key that may use the endpoint, and keys that may not. */
  function keysFor({ needs }: Endpoint): { readonly right: string; readonly wrong: readonly string[] } {
    const { keys } = subject();
    if (needs === 'any key') return { right: keys.readOnly, wrong: [] };
    if (needs === 'any application key') return { right: keys.readOnly, wrong: [vault.session] };
    const others = [keys.management, vault.session];
    if (needs === 'public application key') return { right: vault.public, wrong: [vault.full, ...others] };
    if (needs === 'private application key') return { right: vault.full, wrong: [vault.public, ...others] };
    if (needs === 'token:use or proxy:update') return { right: vault.full, wrong: [vault.public] };
    if (!needs.startsWith('token:'))
      return { right: keys.management, wrong: [vault.full, vault.public, vault.session] };
    const isPublic = /create|update/.test(needs);
    return { right: vault.full, wrong: [keys.management, ...(isPublic ? [] : [vault.public])] };
  }

  /** What the endpoint takes, with a nonce that is good where it wants one. */
  async function bodyFor({ path, body }: Endpoint): Promise<unknown> {
    if (path !== '/sessions/authorize') return body;
    const { nonce } = await post<Session>(subject().call, vault.public, '/sessions');
    return { nonce, permissions: ['token:read'] };
  }

  const send = ({ method, path }: Endpoint, sent: Sent) => subject().call(method, address(path), sent);

  describe('every endpoint', () => {
    before(async () => {
      vault = await openVault(subject());
      const { call, keys } = subject();
      tokenId = (await post<Token>(call, vault.full, '/tokens', { data: 'there' })).id;
      tokenOfStranger = (await post<Token>(call, vault.stranger, '/tokens', { data: 'theirs' })).id;
      const spare = { name: 'Spare', type: 'private', permissions: ['token:read'] };
      applicationId = (await post<Application>(call, keys.management, '/applications', spare)).id;
      for (const { endpoints, make } of RESOURCES.filter((one) => one.make)) {
        const id = (await make?.(subject())) ?? '';
        for (const { path } of endpoints) made.set(path, id);
      }
      keyId = (await post<{ id: string }>(call, keys.management, `/applications/${applicationId}/keys`)).id;
    });

    for (const one of ENDPOINTS) {
      const { method, path, needs, body, refusals: statuses } = one;
      const name = `${method} ${path}`;

      it(`401 from ${name} without a key or with a wrong one`, () =>
        assertNeedsKey(subject().call, method, address(path)));

      if (statuses.includes(403)) {
        it(`403 from ${name} without ${needs}, before the body is looked at`, async () => {
          for (const key of keysFor(one).wrong) {
            const isAboutKeys = needs.endsWith('key');
            const sent = { key, ...(body !== undefined && { raw: '{' }) };
            const code = isAboutKeys ? 'wrong_application_type' : 'permission_denied';
            const { detail } = assertProblem(await send(one, sent), 403, code);
            if (!isAboutKeys) assert.ok(detail.includes(needs), detail);
          }
        });
      }

      if (body !== undefined) {
        it(`400, 413 and 415 from ${name} for what is not JSON, too long or of another type`, async () => {
          const { right: key } = keysFor(one);
          assertProblem(await send(one, { key, raw: '{"a":' }), 400, 'malformed_json');
          assertProblem(await send(one, { key, raw: '[1, 2' }), 400, 'malformed_json');
          const long = one.hasManyValues ? `[${'1,'.repeat(200_000)}1]` : JSON.stringify({ x: 'x'.repeat(1_048_576) });
          assertProblem(await send(one, { key, raw: long }), 413, 'payload_too_large');
          for (const type of ['text/plain', 'application/xml', 'application/json; charset=latin1']) {
            const sent = { key, raw: JSON.stringify({ a: 1 }), headers: { 'Content-Type': type } };
            assertProblem(await send(one, sent), 415, 'unsupported_media_type');
          }
        });
      }

      if (body !== undefined && CHANGES_NOTHING.test(path)) {
        it(`${name} ignores an idempotency key, also one that is none`, async () => {
          const { right: key } = keysFor(one);
          for (const given of ['looked', 'x'.repeat(201), 'two words']) {
            const headers = { 'SVC-IDEMPOTENCY-KEY': given };
            assert.equal((await send(one, { key, headers, body })).status, one.success);
            assertProblem(await send(one, { key, headers, raw: '{' }), 400, 'malformed_json');
          }
        });
      } else if (body !== undefined) {
        it(`the first answer of ${name} again under an idempotency key; a failure is not kept`, async () => {
          const { right: key } = keysFor(one);
          const headers = { 'SVC-IDEMPOTENCY-KEY': `once-${method}` };
          assertProblem(await send(one, { key, headers, raw: '{' }), 400, 'malformed_json');
          const sent = { key, headers, body: await bodyFor(one) };
          const [first, again] = [await send(one, sent), await send(one, sent)];
          assert.equal(first.status, one.success, first.text);
          assert.deepEqual([again.status, again.text], [first.status, first.text]);
          assert.equal(again.headers.get('location'), first.headers.get('location'));
          const other = await send(one, { key, headers, raw: '{' });
          if (key === vault.public) assertProblem(other, 400, 'malformed_json');
          else assert.equal(other.text, first.text, 'bodies are not compared');
          for (const bad of ['x'.repeat(201), 'two words']) {
            const answer = await send(one, { ...sent, headers: { 'SVC-IDEMPOTENCY-KEY': bad } });
            assert.equal(answer.status, 400);
          }
        });
      }

      if (body !== undefined) {
        it(`${name} takes JSON under the types of its method alone, never encoded, never too deep`, async () => {
          const { right: key } = keysFor(one);
          const sendAs = async (type: string, more = {}, raw = JSON.stringify(body)) =>
            send(one, { key, raw, headers: { 'Content-Type': type, ...more } });
          const other = 'application/vnd.shop+json';
          if (method === 'PATCH') {
            assertProblem(await sendAs(other), 415, 'unsupported_media_type');
            assert.equal((await sendAs('application/merge-patch+json')).status, one.success);
          } else {
            const raw = JSON.stringify(await bodyFor(one));
            assert.equal((await sendAs(`${other}; charset=UTF-8`, {}, raw)).status, one.success);
          }
          const encoded = { 'Content-Encoding': 'gzip' };
          assertProblem(await sendAs('application/json', encoded), 415, 'unsupported_media_type');
          const deep = `${'['.repeat(65)}1${']'.repeat(65)}`;
          const tooDeep = await sendAs('application/json', {}, `{"x":${deep}}`);
          assertProblem(tooDeep, 400, 'malformed_json');
        });
      }

      if (path.includes('{id}')) {
        it(`404 from ${name} for what is not there, no id, or another tenant's: in the same words`, async () => {
          const { right: key } = keysFor(one);
          const ids = [UNKNOWN_ID, 'no-id-at-all', '%20', ...(path.startsWith('/tokens') ? [tokenOfStranger] : [])];
          const told = await Promise.all(
            ids.map(async (id) => {
              const sent = { key, ...(body !== undefined && { body }) };
              const answer = await subject().call(method, address(path, id), sent);
              return { ...assertProblem(answer, 404, 'not_found'), trace_id: '' };
            }),
          );
          for (const one of told) assert.deepEqual(one, told[0]);
        });
      }
    }

    for (const [path, methods] of METHODS_BY_PATH) {
      const others = METHODS.filter((method) => !methods.includes(method));
      it(`405 from ${path} for ${others.join(', ')}, with what it takes, and 204 to a preflight`, async () => {
        const { call } = subject();
        const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
        for (const method of others) {
          const answer = await call(method, address(path), { key: subject().keys.management });
          assertProblem(answer, 405, 'method_not_allowed');
          assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), allowed);
        }
        for (const method of methods) {
          const headers = {
            Origin: 'https://shop.test',
            'Access-Control-Request-Method': method,
            'Access-Control-Request-Headers': 'svc-api-key, content-type',
          };
          const preflight = await call('OPTIONS', address(path), { headers });
          assert.equal(preflight.status, 204);
          assert.ok(preflight.headers.get('access-control-allow-methods')?.split(', ').includes(method));
          assert.equal(preflight.headers.get('access-control-allow-headers'), 'svc-api-key, content-type');
          assert.equal(preflight.headers.get('access-control-max-age'), '600');
          assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
          assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
        }
      });
    }
  });
}

/** Comes last: what nobody asked for was not tested. */
export function coverage(subject: () => Subject): void {
  it('every status of every endpoint in the index was seen', () => {
    const { seen } = subject();
    const expected = ENDPOINTS.flatMap(({ method, path, success, refusals: others }) =>
      [success, ...others].map((status) => `${method} ${path} ${status}`),
    );
    assert.deepEqual(
      expected.filter((line) => !seen.has(line)),
      [],
    );
  });
}
