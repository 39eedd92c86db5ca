import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { grantsOf, heldBy } from '../../access/grants.js';
import type { Permission } from '../../access/permissions.js';
import type { Application } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import { newId } from '../../kernel/ids.js';
import { idleRoutes } from '../../testing/idle-routes.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { CallInside } from './inside-calls.js';
import { createInsideCalls } from './inside-calls.js';

const RULES = JSON.stringify([
  { priority: 1, container: '/', transform: 'reveal', permissions: ['token:create', 'token:read', 'token:search'] },
]);

describe('a call of the API from inside', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let call: CallInside;
  const faults: unknown[] = [];
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant('Inside');
    call = createInsideCalls(idleRoutes(app), { onFault: (error) => faults.push(error) });
  });
  after(() => app.close());

  function applicationOf(permissions: readonly Permission[], rules: string): Application {
    const grants = grantsOf('private', permissions, rules);
    const applicationId = newId();
    return {
      kind: 'application',
      tenantId: tenant.id,
      actor: { type: 'application', id: applicationId },
      applicationId,
      applicationType: 'private',
      keyId: newId(),
      permissions: heldBy(grants),
      grants: [grants],
    };
  }
  const contextOf = ({ actor }: Application): AuditContext => ({
    actor,
    atMs: Date.now(),
    sourceAddress: undefined,
    traceId: 'trace',
  });
  async function ask(caller: Application, method: string, target: string, body?: unknown) {
    const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
    const answer = await call(caller, contextOf(caller), { method, target, body: bytes });
    return { status: answer.status, json: answer.body.length === 0 ? undefined : JSON.parse(answer.body.toString()) };
  }

  it('creates, reads, lists and searches as that Application, within its rights', async () => {
    const caller = applicationOf([], RULES);
    const made = await ask(caller, 'POST', '/tokens', { type: 'token', data: 'abc', metadata: { k: 'v' } });
    assert.deepEqual([made.status, made.json.created_by], [201, caller.applicationId]);
    const read = await ask(caller, 'GET', `/tokens/${made.json.id}`);
    assert.deepEqual([read.status, read.json.data], [200, 'abc']);
    const listed = await ask(caller, 'GET', '/tokens?size=1');
    assert.deepEqual([listed.status, listed.json.data.length], [200, 1]);
    assert.equal((await ask(caller, 'DELETE', `/tokens/${made.json.id}`)).status, 403);
    const { json } = await app.call('GET', `/logs?entity_id=${made.json.id}`, { key: tenant.key });
    assert.deepEqual(
      json.data.map(({ operation, actor_id }: { operation: string; actor_id: string }) => [operation, actor_id]),
      [
        ['read', caller.applicationId],
        ['read', caller.applicationId],
        ['create', caller.applicationId],
      ],
    );
  });

  it('has the answers of the wire: 400 by field, 403, 404, and what is broken', async () => {
    const caller = applicationOf(['token:create'], '[]');
    const wrong = await ask(caller, 'POST', '/tokens', { type: 'nothing' });
    assert.deepEqual([wrong.status, wrong.json.code, wrong.json.trace_id], [400, 'validation_failed', 'trace']);
    assert.equal((await ask(caller, 'GET', '/tenants/self')).status, 403);
    for (const [method, target] of [
      ['GET', '/nowhere'],
      ['BREW', '/tokens'],
      ['GET', '/tokens/%00'],
      ['GET', ''],
    ] as const) {
      assert.equal((await ask(caller, method, target)).status, 404, target);
    }
    const broken = await call(caller, contextOf(caller), { method: 'POST', target: '/tokens', body: Buffer.from('{') });
    assert.equal(broken.status, 400);
    assert.deepEqual(faults, []);
  });
});
