import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operatorContext } from '../../../audit/entry.js';
import { systemClock } from '../../../kernel/clock.js';
import { eventually } from '../../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { DefinitionCalls } from '../../definitions/calls.js';
import { createDefinitionCalls } from '../../definitions/calls.js';
import type { OtherNode } from '../../definitions/other-node-fixture.js';
import { startOtherNode } from '../../definitions/other-node-fixture.js';
import type { ReactorShape } from './content.js';
import type { CurrentReactor } from './current-reactor.js';
import { currentReactor } from './current-reactor.js';
import { newCallbackSecret } from './kind.js';
import type { ReactorStory } from './store.js';
import { createReactorStore } from './store.js';

const MADE = { name: 'R', code: 'one' };

describe('a Reactor as a call finds it', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let other: OtherNode;
  let node: DefinitionCalls<ReactorShape>;
  let find: (id: string, tenantId?: string) => Promise<CurrentReactor>;
  const altered: ReactorStory[] = [];

  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    other = await startOtherNode(app);
    const { database, parts, caches } = other;
    const onReactorAltered = (story: ReactorStory) => void altered.push(story);
    const options = { ...parts, reactorMemory: caches.reactors, onReactorAltered };
    const store = createReactorStore(options);
    node = createDefinitionCalls({ database, store, newKept: () => ({ callbackSecret: newCallbackSecret() }) });
    find = (id, tenantId = tenant.id) => currentReactor(options, store, tenantId, id);
  });
  after(async () => {
    await other.close();
    await app.close();
  });

  const call = (method: string, path: string, body?: object, key = tenant.key) =>
    app.call(method, path, { key, ...(body && { body }) });
  const make = async (body: object = {}) => (await call('POST', '/reactors', { ...MADE, ...body })).json.id;
  const isGone = (id: string) =>
    find(id).then(
      () => false,
      (error: { code: string }) => error.code === 'not_found',
    );

  /** Asks until it is remembered: a notice of a change made before may still be on its way. */
  async function warm(id: string): Promise<CurrentReactor> {
    await eventually('it takes no statement', async () => {
      await find(id);
      const before = other.looks();
      await find(id);
      return other.looks() === before;
    });
    return find(id);
  }

  it('says its version and what runs, and not its secret', async () => {
    const { id: applicationId } = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const id = await make({ configuration: { A: 'a' }, application: { id: applicationId } });
    assert.deepEqual(await warm(id), {
      tenantId: tenant.id,
      version: 1,
      definition: { code: 'one', configuration: { A: 'a' }, applicationId },
    });
  });

  it('a change on another node is heard: PUT, PATCH, restore, the end', async () => {
    const id = await make();
    const path = `/reactors/${id}`;
    const code = async () => (await find(id)).definition.code;
    await warm(id);
    await call('PUT', path, { ...MADE, code: 'two' });
    await eventually('PUT is heard', async () => (await code()) === 'two');
    await warm(id);
    await call('PATCH', path, { code: 'three' });
    await eventually('PATCH is heard', async () => (await code()) === 'three');
    await warm(id);
    await call('POST', `${path}/versions/1/restore`);
    await eventually('restore is heard', async () => (await code()) === 'one');
    assert.equal((await warm(id)).version, 4);
    assert.equal((await call('DELETE', path)).status, 204);
    await eventually('the end is heard', () => isGone(id));
  });

  it('a change on this node counts at once', async () => {
    const id = await make();
    await warm(id);
    const auditContext = operatorContext(systemClock.nowMs());
    await node.patch(tenant.id, auditContext, id, { code: 'here' });
    assert.equal((await find(id)).definition.code, 'here');
    await warm(id);
    await node.delete(tenant.id, auditContext, id);
    assert.equal(await isGone(id), true);
  });

  it('a neighbour finds nothing under its id, whether or not it is remembered', async () => {
    const id = await make();
    const neighbour = await app.makeTenant();
    await assert.rejects(find(id, neighbour.id), { code: 'not_found' });
    await warm(id);
    await assert.rejects(find(id, neighbour.id), { code: 'not_found' });
  });

  it('is gone once its tenant is deleted', async () => {
    const ending = await app.makeTenant();
    const { id } = (await call('POST', '/reactors', MADE, ending.key)).json;
    assert.equal((await find(id, ending.id)).version, 1);
    assert.equal((await call('DELETE', '/tenants/self', undefined, ending.key)).status, 204);
    await eventually('the end is heard', () =>
      find(id, ending.id).then(
        () => false,
        (error: { code: string }) => ['not_found', 'invalid_api_key'].includes(error.code),
      ),
    );
  });

  it('503 for a row that was altered, and the operator is told', async () => {
    const [one, two] = [await make(), await make()];
    await app.db.owner.query('UPDATE reactors SET sealed = (SELECT sealed FROM reactors WHERE id = $2) WHERE id = $1', [
      one,
      two,
    ]);
    await assert.rejects(find(one), { code: 'storage_unavailable' });
    assert.deepEqual(altered, [{ tenantId: tenant.id, reactorId: one }]);
  });
});
