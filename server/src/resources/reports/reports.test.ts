import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { operatorContext } from '../../audit/entry.js';
import { insertBareToken, usageOf } from '../../testing/bare-tokens.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';
import type { TokenUsage } from '../../vault/index.js';
import { countUsage } from '../../vault/index.js';

const NEARLY_FEBRUARY_MS = Date.UTC(2030, 0, 31, 23, 59, 59, 999);
const ZERO = { token: { count: 0 }, bank: { count: 0 }, card: { count: 0 } };

describe('GET /tenants/self/reports/usage', () => {
  const clock = createFakeClock(NEARLY_FEBRUARY_MS - 86_400_000);
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock });
  });
  after(() => app.close());

  const ask = (tenant: TestTenant) => app.call('GET', '/tenants/self/reports/usage', { key: tenant.key });
  const report = async (tenant: TestTenant) => (await ask(tenant)).json.token_report;

  function count(tenant: TestTenant, differences: Record<string, number>, activeIds: readonly string[] = []) {
    const usage = usageOf(differences, activeIds);
    return app.database.write(tenant.id, (tx) => countUsage(tx, operatorContext(clock.nowMs()), usage));
  }

  const ids = (count: number, prefix = 't') => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

  async function store(tenant: TestTenant, id: string, type: string, createdAt: string): Promise<void> {
    await insertBareToken(app.db, { tenantId: tenant.id, id, type, createdAt });
    await count(tenant, { [type]: 1 });
  }

  async function erase(tenant: TestTenant, id: string, type: string): Promise<void> {
    await app.db.owner.query('DELETE FROM tokens WHERE tenant_id = $1 AND id = $2', [tenant.id, id]);
    await count(tenant, { [type]: -1 });
  }

  it('200 with zeros and exactly the specified fields for a tenant without tokens', async () => {
    const { status, json } = await ask(await app.makeTenant());
    assert.equal(status, 200);
    assert.deepEqual(json, {
      token_report: { metrics_by_type: ZERO, included_monthly_active_tokens: 1_000, monthly_active_tokens: 0 },
    });
  });

  it('403 without report:read, and no number is shown', async () => {
    const tenant = await app.makeTenant();
    const key = await app.makeKey(tenant.id, 'management', ['tenant:read', 'log:read']);
    const { status, text } = await app.call('GET', '/tenants/self/reports/usage', { key });
    assert.equal(status, 403);
    assert.doesNotMatch(text, /monthly_active_tokens/);
  });

  it('200 with a further type exactly while it has tokens; the three stay', async () => {
    const tenant = await app.makeTenant();
    await count(tenant, { social_security_number: 2, card: 1 });
    assert.deepEqual((await report(tenant)).metrics_by_type, {
      ...ZERO,
      card: { count: 1 },
      social_security_number: { count: 2 },
    });
    await count(tenant, { social_security_number: -2, card: -1 });
    assert.deepEqual((await report(tenant)).metrics_by_type, ZERO);
  });

  it('200 with last_created_at of the newest token there is, also after it was deleted', async () => {
    const tenant = await app.makeTenant();
    const newest = async () => (await report(tenant)).metrics_by_type.card.last_created_at;
    await store(tenant, 'b', 'card', '2030-01-02T00:00:00.125Z');
    await store(tenant, 'c', 'card', '2030-01-03T00:00:00Z');
    await store(tenant, 'a', 'card', '2030-01-01T00:00:00Z');
    await store(tenant, 'x', 'token', '2030-01-09T00:00:00Z');
    assert.equal(await newest(), '2030-01-03T00:00:00.000+00:00');
    await erase(tenant, 'c', 'card');
    assert.equal(await newest(), '2030-01-02T00:00:00.125+00:00');
    await erase(tenant, 'a', 'card');
    assert.equal(await newest(), '2030-01-02T00:00:00.125+00:00');
    await erase(tenant, 'b', 'card');
    assert.deepEqual((await report(tenant)).metrics_by_type.card, { count: 0 });
  });

  it('200 with each active token once, however often it is created, read or used', async () => {
    const tenant = await app.makeTenant();
    await count(tenant, {}, ['a', 'b', 'a']);
    await count(tenant, { card: 1 }, ['b', 'c']);
    await count(tenant, {}, ['a']);
    await count(tenant, { card: -1 });
    assert.equal((await report(tenant)).monthly_active_tokens, 3);
  });

  it('200 with a token made this month counted once without a row of its own, and again when a later month sees it', async () => {
    const tenant = await app.makeTenant();
    const touch = (id: string, createdAtMs: number, isNew: boolean) =>
      app.database.write(tenant.id, (tx) =>
        countUsage(tx, operatorContext(clock.nowMs()), { differences: [], active: [{ id, createdAtMs, isNew }] }),
      );
    const madeMs = clock.nowMs();
    await touch('fresh', madeMs, true);
    await touch('fresh', madeMs, false);
    assert.equal((await report(tenant)).monthly_active_tokens, 1);
    const rows = await app.db.owner.query('SELECT token_id FROM active_tokens WHERE tenant_id = $1', [tenant.id]);
    assert.equal(rows.rows.length, 0);
    clock.jumpTo(NEARLY_FEBRUARY_MS + 1);
    await touch('fresh', madeMs, false);
    await touch('fresh', madeMs, false);
    assert.equal((await report(tenant)).monthly_active_tokens, 1);
    clock.jumpTo(madeMs);
  });

  it('200 without what has expired, although nothing has swept it yet', async () => {
    const tenant = await app.makeTenant();
    await store(tenant, 'stays', 'card', '2030-01-01T00:00:00Z');
    await store(tenant, 'goes', 'card', '2030-01-02T00:00:00Z');
    await app.db.owner.query(`UPDATE tokens SET expires_at = $2 WHERE tenant_id = $1 AND id = 'goes'`, [
      tenant.id,
      new Date(clock.nowMs()),
    ]);
    assert.deepEqual((await report(tenant)).metrics_by_type.card, {
      count: 1,
      last_created_at: '2030-01-01T00:00:00.000+00:00',
    });
  });

  it('200 for ten thousand groups in tables nobody has analysed yet: the newest of each is one step into its index', async () => {
    const tenant = await app.makeTenant();
    await app.db.owner.query(
      `WITH made AS (
         INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, terms, data_version, sealed)
         SELECT $1, 'g' || n, 'card', md5(n::text)::uuid, '2030-01-01'::timestamptz + n * interval '1 ms',
                gen_random_uuid(), '', 1, '\\x00' FROM generate_series(1, 10000) AS n RETURNING tenant_id, group_id)
       INSERT INTO token_groups SELECT tenant_id, group_id, 0, 'card', '{/a/}', 1 FROM made`,
      [tenant.id],
    );
    const { card } = (await report(tenant)).metrics_by_type;
    assert.deepEqual(card, { count: 10_000, last_created_at: '2030-01-01T00:00:10.000+00:00' });
  });

  it('200 with exact numbers after fifty parallel writes of the same and of other tokens', async () => {
    const [tenant, other] = [await app.makeTenant(), await app.makeTenant()];
    const writes = Array.from({ length: 50 }, (_, n) =>
      // Each has one token of its own and ten it shares, in an order of its own.
      count(n % 5 === 4 ? other : tenant, { card: 2, token: -1, bank: n % 2 }, [
        `own${n}`,
        ...(n % 2 === 0 ? ids(10) : ids(10).reverse()),
      ]),
    );
    await count(tenant, { token: 100 });
    await count(other, { token: 100 });
    await Promise.all(writes);
    const [mine, others] = [await report(tenant), await report(other)];
    assert.equal(mine.monthly_active_tokens, 40 + 10);
    assert.equal(others.monthly_active_tokens, 10 + 10);
    assert.deepEqual(mine.metrics_by_type, { token: { count: 60 }, bank: { count: 20 }, card: { count: 80 } });
    assert.deepEqual(others.metrics_by_type, { token: { count: 90 }, bank: { count: 5 }, card: { count: 20 } });
  });

  it('200 with exact numbers while two processes count at once', async () => {
    const second = await startTestApp({ clock, beside: { db: app.db, rootKey: rootKeyOf(app) } });
    try {
      const tenant = await app.makeTenant();
      const auditContext = operatorContext(clock.nowMs());
      const usage = (n: number): TokenUsage => usageOf({ card: 1 }, ids(5, `${n % 10}-`));
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          (n % 2 === 0 ? app : second).database.write(tenant.id, (tx) => countUsage(tx, auditContext, usage(n))),
        ),
      );
      const { metrics_by_type, monthly_active_tokens } = await report(tenant);
      assert.deepEqual([metrics_by_type.card.count, monthly_active_tokens], [40, 50]);
    } finally {
      await second.close();
    }
  });

  it('200 with nothing counted by a write that was rolled back', async () => {
    const tenant = await app.makeTenant();
    const usage = usageOf({ card: 5 }, ids(5));
    const broken = app.database.write(tenant.id, async (tx) => {
      await countUsage(tx, operatorContext(clock.nowMs()), usage);
      throw new Error('after counting');
    });
    await assert.rejects(broken, /after counting/);
    const { metrics_by_type, monthly_active_tokens } = await report(tenant);
    assert.deepEqual([metrics_by_type, monthly_active_tokens], [ZERO, 0]);
  });

  it('200 as a model predicts, for any history of batches', async () => {
    const change = fc.record({
      differences: fc.dictionary(
        fc.constantFrom('token', 'card', 'bank', 'card_number'),
        fc.integer({ min: 0, max: 5 }),
      ),
      active: fc.array(fc.constantFrom(...ids(8)), { maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (history) => {
        const tenant = await app.makeTenant();
        const expected: Record<string, { count: number }> = structuredClone(ZERO);
        for (const { differences } of history) {
          for (const [type, n] of Object.entries(differences)) {
            if (n > 0) expected[type] = { count: (expected[type]?.count ?? 0) + n };
          }
        }
        await Promise.all(history.map(({ differences, active }) => count(tenant, differences, active)));
        const { metrics_by_type, monthly_active_tokens } = await report(tenant);
        assert.deepEqual(metrics_by_type, expected);
        assert.equal(monthly_active_tokens, new Set(history.flatMap(({ active }) => active)).size);
      }),
      { numRuns: 25 },
    );
  });

  it('200 with active tokens of this month in UTC alone: at midnight the count starts again', async () => {
    const tenant = await app.makeTenant();
    clock.jumpTo(NEARLY_FEBRUARY_MS);
    await count(tenant, { card: 3 }, ids(3));
    assert.equal((await report(tenant)).monthly_active_tokens, 3);
    clock.jumpTo(NEARLY_FEBRUARY_MS + 1);
    assert.equal((await report(tenant)).monthly_active_tokens, 0);
    assert.equal((await report(tenant)).metrics_by_type.card.count, 3);
    await count(tenant, {}, ids(2));
    assert.equal((await report(tenant)).monthly_active_tokens, 2);
    clock.jumpTo(NEARLY_FEBRUARY_MS);
    assert.equal((await report(tenant)).monthly_active_tokens, 3);
  });

  it('200 with what the plan of this tenant includes, else what the operator set for all', async () => {
    const second = await startTestApp({
      clock,
      env: { STRONGROOM_INCLUDED_MONTHLY_ACTIVE_TOKENS: '25' },
      beside: { db: app.db, rootKey: rootKeyOf(app) },
    });
    try {
      const [tenant, plain] = [await app.makeTenant(), await app.makeTenant()];
      const included = async ({ key }: TestTenant) =>
        (await second.call('GET', '/tenants/self/reports/usage', { key })).json.token_report
          .included_monthly_active_tokens;
      for (const own of [5, 0, 9_007_199_254_740_991, null]) {
        await app.db.owner.query('UPDATE tenants SET included_monthly_active_tokens = $2 WHERE id = $1', [
          tenant.id,
          own,
        ]);
        assert.equal(await included(tenant), own ?? 25);
      }
      assert.equal(await included(plain), 25);
    } finally {
      await second.close();
    }
  });
});
