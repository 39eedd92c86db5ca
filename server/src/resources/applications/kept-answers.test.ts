import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AuditContext } from '../../audit/entry.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Applications } from './service.js';
import { createApplications } from './service.js';

describe('an answer kept for repetition', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let applications: Applications;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    applications = createApplications({
      database: app.database,
      systemKeys: app.keyStore.systemKeys,
      forgetAccess: () => {},
      onSecurity: () => {},
      onIntegrityFault: () => {},
    });
  });
  after(() => app.close());

  const input = { name: 'A', type: 'private', permissions: ['token:read'] } as const;

  /** Each change with an act that keeps its answer in the given way. */
  function changes(id: string): readonly (readonly [string, (auditContext: AuditContext) => Promise<unknown>])[] {
    return [
      [
        'create',
        (auditContext) => applications.create(tenant.id, auditContext, { ...input, permissions: ['token:read'] }),
      ],
      [
        'update',
        (auditContext) => applications.update(tenant.id, auditContext, id, { name: 'B', permissions: ['token:use'] }),
      ],
      ['add a key', (auditContext) => applications.keys.add(tenant.id, auditContext, id)],
      ['regenerate', (auditContext) => applications.keys.regenerate(tenant.id, auditContext, id, {})],
    ];
  }

  const actWith = (keepAnswer: AuditContext['keepAnswer']): AuditContext => ({
    actor: undefined,
    atMs: Date.now(),
    sourceAddress: undefined,
    traceId: undefined,
    keepAnswer,
  });

  it('is the very value that is answered, once', async () => {
    const { id } = await app.makeApplication(tenant.id, 'private', ['token:read']);
    for (const [name, change] of changes(id)) {
      const kept: unknown[] = [];
      const answered = await change(actWith(async (_, body) => void kept.push(body)));
      assert.deepEqual(kept, [answered], name);
    }
  });

  it('takes its change along: when it cannot be kept nothing has happened', async () => {
    const { id, key } = await app.makeApplication(tenant.id, 'private', ['token:read']);
    const stored = async () =>
      JSON.stringify(
        (
          await app.db.owner.query(
            `SELECT a.*, to_jsonb(k) - 'last_used_at' AS k FROM applications a LEFT JOIN api_keys k ON k.application_id = a.id
             ORDER BY a.id, k.id`,
          )
        ).rows,
      );
    const untouched = await stored();
    for (const [name, change] of changes(id)) {
      await assert.rejects(change(actWith(() => Promise.reject(new Error('no room')))), /no room/, name);
    }
    assert.equal(await stored(), untouched);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
  });
});
