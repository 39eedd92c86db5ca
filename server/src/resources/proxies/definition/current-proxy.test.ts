import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generateApiKey, generateProxyKey } from '../../../access/api-key.js';
import { operatorContext } from '../../../audit/entry.js';
import { systemClock } from '../../../kernel/clock.js';
import { eventually } from '../../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { DefinitionCalls } from '../../definitions/calls.js';
import { createDefinitionCalls } from '../../definitions/calls.js';
import type { OtherNode } from '../../definitions/other-node-fixture.js';
import { startOtherNode } from '../../definitions/other-node-fixture.js';
import type { ProxyShape } from './content.js';
import type { FindProxy } from './current-proxy.js';
import { createFindProxy } from './current-proxy.js';
import { newProxyKey } from './kind.js';
import type { ProxyStory } from './store.js';
import { createProxyStore } from './store.js';

const MADE = { name: 'P', destination_url: 'https://a.example/v1' };

describe('a Proxy found by its key', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let other: OtherNode;
  let node: DefinitionCalls<ProxyShape>;
  let findOnNode: FindProxy;
  const looks = () => other.looks();
  const altered: ProxyStory[] = [];

  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    other = await startOtherNode(app);
    const { database, keyStore, caches, parts } = other;
    const onProxyAltered = (story: ProxyStory) => void altered.push(story);
    const options = { ...parts, proxyMemory: caches.proxies, onProxyAltered };
    const store = createProxyStore(options);
    const newKept = () => newProxyKey(keyStore.systemKeys.apiKeyPepper);
    node = createDefinitionCalls({ database, store, newKept });
    findOnNode = createFindProxy(options, store);
  });
  after(async () => {
    await other.close();
    await app.close();
  });

  const call = (method: string, path: string, body?: object, key = tenant.key) =>
    app.call(method, path, { key, ...(body && { body }) });
  const make = async (body: object = {}) => (await call('POST', '/proxies', { ...MADE, ...body })).json;

  /** Asks until it is remembered: a notice of a change made before may still be on its way. */
  async function warm(key: string) {
    await eventually('it takes no statement', async () => {
      assert.ok(await findOnNode(key));
      const before = looks();
      await findOnNode(key);
      return looks() === before;
    });
    return findOnNode(key);
  }

  it('says whose it is, its version and what it says, and neither its key nor what has no effect', async () => {
    const { id: applicationId } = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const { id, key } = await make({
      ...{ request_transform: { code: 'one' }, configuration: { A: 'a' }, application_id: applicationId },
      ...{ require_auth: false, request_reactor_id: 'r' },
    });
    assert.deepEqual(await warm(key), {
      tenantId: tenant.id,
      proxyId: id,
      version: 1,
      definition: {
        ...{ name: 'P', destinationUrl: 'https://a.example/v1', requestTransform: 'one', responseTransform: null },
        ...{ applicationId, configuration: { A: 'a' }, requireAuth: false },
      },
    });
  });

  it('undefined without a look for what is no proxy key, and with one for a key nobody has', async () => {
    const { key } = await make();
    const before = looks();
    for (const text of [
      ...['', 'x', key.slice(1), `${key} `, key.toLowerCase(), `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
      ...[tenant.key, generateApiKey('session').reveal(), `key_prx_${'0'.repeat(32)}`],
    ]) {
      assert.equal(await findOnNode(text), undefined, text);
    }
    assert.equal(looks(), before);
    const unknown = generateProxyKey().reveal();
    for (let asked = 1; asked <= 2; asked += 1) {
      assert.equal(await findOnNode(unknown), undefined);
      assert.equal(looks(), before + asked, 'guesses are not remembered');
    }
  });

  it('a change on another node is heard: PUT, PATCH, restore, a new key, the end', async () => {
    const { id, key } = await make();
    const path = `/proxies/${id}`;
    const name = async (text: string) => (await findOnNode(text))?.definition.name;
    await warm(key);
    await call('PUT', path, { ...MADE, name: 'Q' });
    await eventually('PUT is heard', async () => (await name(key)) === 'Q');
    await call('PATCH', path, { name: 'R' });
    await eventually('PATCH is heard', async () => (await name(key)) === 'R');
    await call('POST', `${path}/versions/1/restore`);
    await eventually('restore is heard', async () => (await name(key)) === 'P');
    await warm(key);
    const { key: next } = (await call('POST', `${path}/regenerate`)).json;
    await eventually('the old key is gone', async () => (await findOnNode(key)) === undefined);
    assert.equal((await warm(next))?.proxyId, id);
    assert.equal((await call('DELETE', path)).status, 204);
    await eventually('the end is heard', async () => (await findOnNode(next)) === undefined);
  });

  it('a change on this node counts at once', async () => {
    const { id, key } = await make();
    await warm(key);
    const auditContext = operatorContext(systemClock.nowMs());
    await node.patch(tenant.id, auditContext, id, { name: 'Here' });
    assert.equal((await findOnNode(key))?.definition.name, 'Here');
    await warm(key);
    const { key: next } = await node.renew(tenant.id, auditContext, id);
    assert.equal(await findOnNode(key), undefined);
    assert.equal((await findOnNode(next))?.proxyId, id);
    await warm(next);
    await node.delete(tenant.id, auditContext, id);
    assert.equal(await findOnNode(next), undefined);
  });

  it('a neighbour can neither take its key nor change it', async () => {
    const { id, key } = await make();
    await warm(key);
    const neighbour = await app.makeTenant();
    const body = { ...MADE, key };
    const own = (await call('POST', '/proxies', body, neighbour.key)).json;
    assert.notEqual(own.key, key);
    assert.equal((await call('PATCH', `/proxies/${id}`, { name: 'Taken' }, neighbour.key)).status, 404);
    assert.equal((await call('POST', `/proxies/${id}/regenerate`, undefined, neighbour.key)).status, 404);
    assert.equal((await warm(key))?.definition.name, 'P');
  });

  it('undefined once its tenant is deleted', async () => {
    const ending = await app.makeTenant();
    const { key } = (await call('POST', '/proxies', MADE, ending.key)).json;
    assert.equal((await warm(key))?.tenantId, ending.id);
    assert.equal((await call('DELETE', '/tenants/self', undefined, ending.key)).status, 204);
    await eventually('the end is heard', async () => (await findOnNode(key)) === undefined);
  });

  it('503 for a row that was given the hash of another key, and the operator is told', async () => {
    const [one, other] = [await make(), await make()];
    const { rows } = await app.db.owner.query('SELECT key_hash FROM proxies WHERE id = $1', [one.id]);
    await app.db.owner.query('DELETE FROM proxies WHERE id = $1', [one.id]);
    await app.db.owner.query('UPDATE proxies SET key_hash = $2 WHERE id = $1', [other.id, rows[0].key_hash]);
    await assert.rejects(findOnNode(one.key), { code: 'storage_unavailable' });
    assert.deepEqual(altered, [{ tenantId: tenant.id, proxyId: other.id }]);
    assert.equal(await findOnNode(other.key), undefined);
  });
});
