// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from './portal-fixture.js';
import { makePerson } from './portal-fixture.js';

const SETTING = 'canary-of-a-setting';
const REACTOR = {
  name: 'R',
  code: 'module.exports = (req) => { console.log("ran"); return { raw: [req.args, req.client, req.configuration.NAME] }; };',
  configuration: { NAME: SETTING },
};
const PROXY = { name: 'P', destination_url: 'https://a.example/base', configuration: { NAME: SETTING } };

describe('users who try code and look at requests', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let reactorId: string;
  let proxy: { readonly id: string; readonly key: string };
  let tokenId: string;
  let readOnly: Person;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    const made = async (key: string, path: string, body: object) => (await app.call('POST', path, { key, body })).json;
    reactorId = (await made(tenant.key, '/reactors', REACTOR)).id;
    proxy = await made(tenant.key, '/proxies', PROXY);
    const key = await app.makeKey(tenant.id, 'private', ['token:create']);
    tokenId = (await made(key, '/tokens', { data: 'canary-of-a-token', mask: 'canary-of-a-mask' })).id;
    readOnly = await makePerson(app, tenant.id, 'READ_ONLY');
  });
  after(() => app.close());

  const send = ({ browser }: Person, path: string, body: unknown) =>
    browser.call('POST', path, body, { 'SVC-TENANT-ID': tenant.id });
  const tested = async () =>
    (await app.call('GET', '/logs?entity_type=reactor&operation=use', { key: tenant.key })).json.data;

  for (const role of ['OWNER', 'ADMIN'] as const) {
    it(`200 for an ${role} who tries code, stored or not, without a client; the log names the user`, async () => {
      const person = await makePerson(app, tenant.id, role);
      const stored = await send(person, `/reactors/${reactorId}/test`, { args: 7 });
      assert.deepEqual([stored.status, stored.json.raw], [200, [7, null, SETTING]], stored.text);
      assert.deepEqual(
        stored.json.console.map(({ text }: { text: string }) => text),
        ['ran'],
      );
      const loose = await send(person, '/reactors/test', { code: 'module.exports = () => ({ raw: 1 })', args: null });
      assert.deepEqual([loose.status, loose.json.raw], [200, 1], loose.text);
      const entries = (await tested()).filter(({ actor_id: id }: { actor_id: string }) => id === person.userId);
      assert.deepEqual(
        entries.map((entry: Record<string, string>) => [entry.actor_type, entry.entity_id]).sort(),
        [
          ['user', '*'],
          ['user', reactorId],
        ].sort(),
      );
    });

    it(`400 for an ${role} who names a token in a test, and nothing runs`, async () => {
      const person = await makePerson(app, tenant.id, role);
      const before = (await tested()).length;
      const { status, text } = await send(person, `/reactors/${reactorId}/test`, { args: { n: `{{ ${tokenId} }}` } });
      assert.equal(status, 400);
      assert.equal(text.includes('canary'), false);
      assert.equal((await tested()).length, before);
    });

    it(`200 for an ${role} who previews a request: expressions stay as written, tokens are not named or logged`, async () => {
      const person = await makePerson(app, tenant.id, role);
      const request = { method: 'POST', path: '/x', body: { n: `{{ ${tokenId} }}` } };
      for (const [path, further] of [
        [`/proxies/${proxy.id}/preview`, {}],
        ['/proxies/preview', { destination_url: PROXY.destination_url }],
      ] as const) {
        const { status, json, text } = await send(person, path, { ...request, ...further });
        assert.deepEqual([status, json.body, json.url], [200, request.body, `${PROXY.destination_url}/x`], text);
        assert.equal('tokens' in json || text.includes('canary'), false, text);
      }
      const { json } = await app.call('GET', `/logs?entity_id=${tokenId}&operation=use`, { key: tenant.key });
      assert.deepEqual(json.data, []);
    });
  }

  it('403 for READ_ONLY on all of them, and the refusal shows no setting', async () => {
    for (const path of [
      ...['/reactors/test', `/reactors/${reactorId}/test`],
      ...['/proxies/preview', `/proxies/${proxy.id}/preview`],
    ]) {
      const { status, json, text } = await send(readOnly, path, {});
      assert.deepEqual([status, json.code], [403, 'permission_denied'], path);
      assert.equal(text.includes('canary'), false);
    }
  });

  it('shows READ_ONLY no setting and no key of a Proxy, in lists, single ones and earlier versions', async () => {
    for (const path of [`/reactors/${reactorId}`, `/proxies/${proxy.id}`]) {
      assert.equal((await app.call('PATCH', path, { key: tenant.key, body: { name: 'Changed' } })).status, 204);
    }
    for (const path of ['/reactors', `/reactors/${reactorId}`, '/proxies', `/proxies/${proxy.id}`]) {
      for (const address of [path, ...(path.split('/').length > 2 ? [`${path}/versions`] : [])]) {
        const headers = { 'SVC-TENANT-ID': tenant.id };
        const { status, text } = await readOnly.browser.call('GET', address, undefined, headers);
        assert.equal(status, 200, address);
        assert.equal(text.includes(SETTING) || text.includes(proxy.key), false, address);
      }
    }
  });
});
