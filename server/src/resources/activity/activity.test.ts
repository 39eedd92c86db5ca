import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MEMBER_ROLES, permissionsOfRole } from '../../access/roles.js';
import type { Actor, Entry } from '../../audit/entry.js';
import { operatorContext } from '../../audit/entry.js';
import { ensureLogPartitions } from '../../audit/partitions.js';
import { recordAll } from '../../audit/record.js';
import { formatDate } from '../../kernel/dates.js';
import { newId } from '../../kernel/ids.js';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { TOKEN_EVENTS } from '../../vault/events.js';
import type { Browser, Person } from '../portal/portal-fixture.js';
import { makePerson, openBrowser } from '../portal/portal-fixture.js';

const DAY_MS = 86_400_000;
const TOKEN_RIGHTS = ['token:create', 'token:update', 'token:read', 'token:search', 'token:delete', 'token:use'];
const CALLS = ['overview', 'usage', 'logs/histogram'] as const;
const read: Entry = { event: TOKEN_EVENTS.retrieved, entityId: 'one', entityType: 'card', outcome: 'success' };
const failed: Entry = { ...read, outcome: 'failure' };
const created: Entry = { event: TOKEN_EVENTS.created, entityId: 'one', outcome: 'success' };
const denied: Entry = { event: TOKEN_EVENTS.denied, entityId: '*', outcome: 'denied' };

describe('what the Portal shows of a tenant', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let owner: Person;
  before(async () => {
    // Noon of today: whoever is made past the API is made by the real clock.
    clock = createFakeClock(Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2);
    app = await startTestApp({ clock });
    await ensureLogPartitions(app.database, clock.nowMs() - 45 * DAY_MS);
    tenant = await app.makeTenant('Ours');
    owner = await makePerson(app, tenant.id, 'OWNER');
  });
  after(() => app.close());

  const get = (browser: Browser, call: string, tenantId = tenant.id) =>
    browser.call('GET', `/portal/api/tenants/${tenantId}/${call}`);
  const act = (tenantId: string, daysAgo: number, actor: Actor | undefined, entries: readonly Entry[]) =>
    app.database.write(tenantId, (tx) =>
      recordAll(tx, { ...operatorContext(clock.nowMs() - daysAgo * DAY_MS), actor }, entries),
    );
  const dateOf = (daysAgo: number) => formatDate(clock.nowMs() - daysAgo * DAY_MS).slice(0, 10);

  it('404 for a member of a neighbour, in the same words as for an unknown tenant, and 401 for nobody', async () => {
    const theirs = await app.makeTenant('Theirs');
    const neighbour = await makePerson(app, theirs.id, 'OWNER');
    for (const call of CALLS) {
      assert.equal((await get(neighbour.browser, call, theirs.id)).status, 200, call);
      const [ours, unknown, odd] = [
        await get(neighbour.browser, call),
        await get(neighbour.browser, call, newId()),
        await get(neighbour.browser, call, 'no-uuid'),
      ];
      for (const { status, json } of [ours, unknown, odd]) {
        assert.deepEqual([status, json.code, json.detail], [404, 'not_found', ours.json.detail]);
      }
      assert.equal((await get(openBrowser(app), call)).status, 401, call);
      const byKey = await app.call('GET', `/portal/api/tenants/${tenant.id}/${call}`, { key: tenant.key });
      assert.notEqual(byKey.status, 200, 'a key is no session');
    }
  });

  it('200 for READ_ONLY as for the owner, without a secret, and every role may read what the overview is made of', async () => {
    const reader = await makePerson(app, tenant.id, 'READ_ONLY');
    for (const call of CALLS) {
      const [one, other] = [await get(reader.browser, call), await get(owner.browser, call)];
      assert.equal(one.status, 200, one.text);
      assert.deepEqual(Object.keys(one.json), Object.keys(other.json));
      assert.ok(!one.text.includes(tenant.key));
    }
    for (const role of MEMBER_ROLES) {
      for (const permission of ['report:read', 'log:read', 'application:read'] as const) {
        assert.ok(permissionsOfRole(role).has(permission), `${role} ${permission}`);
      }
    }
  });

  it('403 for a session without the second factor that the tenant asks for, and its visit is no way around', async () => {
    const strict = await app.makeTenant('Strict');
    const person = await makePerson(app, strict.id, 'ADMIN');
    await app.db.owner.query('UPDATE tenants SET second_factor_from = $2 WHERE id = $1', [
      strict.id,
      new Date(clock.nowMs() - 1),
    ]);
    for (const call of CALLS) {
      const { status, json } = await get(person.browser, call, strict.id);
      assert.deepEqual([status, json.code], [403, 'second_factor_required'], call);
    }
  });

  it('the first call of a session is in the log, once', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    for (const call of CALLS) assert.equal((await get(person.browser, call)).status, 200);
    const { json } = await app.call('GET', `/logs?operation=sign_in&actor_id=${person.userId}`, { key: tenant.key });
    assert.equal(json.data.length, 1);
  });

  it('activity has 30 days, oldest first, with days without entries, by operation, refusals apart', async () => {
    const [busy, other] = [newId(), newId()];
    const busyTenant = await app.makeTenant('Busy');
    const person = await makePerson(app, busyTenant.id, 'ADMIN');
    await act(busyTenant.id, 29, { type: 'application', id: busy }, [read, read, failed, created, denied]);
    await act(busyTenant.id, 30, { type: 'application', id: busy }, [read]);
    await act(busyTenant.id, 3, { type: 'session', id: other }, [created, denied, denied]);
    const { json } = await get(person.browser, 'overview', busyTenant.id);
    assert.equal(json.activity.length, 30);
    assert.deepEqual(
      json.activity.map(({ date }: { date: string }) => date),
      Array.from({ length: 30 }, (_, n) => dateOf(29 - n)),
    );
    assert.deepEqual(json.activity[0], {
      date: dateOf(29),
      total: 4,
      operations: [
        { entity_type: 'card', operation: 'read', count: 3 },
        { entity_type: 'token', operation: 'create', count: 1 },
      ],
    });
    assert.deepEqual(json.activity[1], { date: dateOf(28), total: 0, operations: [] });
    assert.deepEqual(json.activity[26].operations, [{ entity_type: 'token', operation: 'create', count: 1 }]);
    assert.equal(json.refusals.is_logged, false);
    assert.equal(json.refusals.total, 3);
    assert.equal(json.refusals.days.length, 30);
    assert.deepEqual(json.refusals.days[0], { date: dateOf(29), count: 1 });
    assert.deepEqual(json.refusals.days[26], { date: dateOf(3), count: 2 });
  });

  it('top_applications are five at most, the busiest first, with names, deleted ones without', async () => {
    const crowded = await app.makeTenant('Crowded');
    const person = await makePerson(app, crowded.id, 'ADMIN');
    const ids: string[] = [];
    for (let n = 1; n <= 6; n += 1) {
      const { id } = await app.makeApplication(crowded.id, 'private', TOKEN_RIGHTS);
      ids.push(id);
      await act(
        crowded.id,
        n,
        { type: 'application', id },
        Array.from({ length: n }, () => read),
      );
    }
    await act(
      crowded.id,
      1,
      { type: 'application', id: ids[0] ?? '' },
      Array.from({ length: 20 }, () => denied),
    );
    await act(
      crowded.id,
      1,
      { type: 'user', id: newId() },
      Array.from({ length: 20 }, () => read),
    );
    assert.equal((await app.call('DELETE', `/applications/${ids[4]}`, { key: crowded.key })).status, 204);
    const { json } = await get(person.browser, 'overview', crowded.id);
    assert.deepEqual(json.top_applications, [
      { id: ids[5], name: 'private under test', is_deleted: false, count: 6 },
      { id: ids[4], is_deleted: true, count: 5 },
      { id: ids[3], name: 'private under test', is_deleted: false, count: 4 },
      { id: ids[2], name: 'private under test', is_deleted: false, count: 3 },
      { id: ids[1], name: 'private under test', is_deleted: false, count: 2 },
    ]);
  });

  it('tokens are those of the usage report, and months go back to the first that has any, newest first', async () => {
    const used = await app.makeTenant('Used');
    const person = await makePerson(app, used.id, 'ADMIN');
    const key = await app.makeKey(used.id, 'private', TOKEN_RIGHTS);
    await app.call('POST', '/tokens', { key, body: { data: 'x' } });
    const { json: empty } = await get(person.browser, 'usage', used.id);
    assert.deepEqual(empty.months, []);
    const month = (ago: number) => {
      const date = new Date(clock.nowMs());
      return formatDate(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - ago, 1)).slice(0, 10);
    };
    for (const [ago, slot, count] of [
      [2, 0, 3],
      [2, 1, 4],
      [24, 0, 7],
      [25, 0, 9],
    ]) {
      await app.db.owner.query(
        'INSERT INTO active_token_counts (tenant_id, month, slot, count) VALUES ($1, $2, $3, $4)',
        [used.id, month(Number(ago)), slot, count],
      );
    }
    const { json } = await get(person.browser, 'usage', used.id);
    const { json: report } = await app.call('GET', '/tenants/self/reports/usage', { key: used.key });
    assert.deepEqual(json.report, report);
    assert.equal(report.token_report.monthly_active_tokens, 1);
    assert.equal(json.months.length, 24);
    assert.deepEqual(json.months.slice(0, 3), [
      { month: month(1).slice(0, 7), active_tokens: 0 },
      { month: month(2).slice(0, 7), active_tokens: 7 },
      { month: month(3).slice(0, 7), active_tokens: 0 },
    ]);
    assert.deepEqual(json.months.at(-1), { month: month(24).slice(0, 7), active_tokens: 7 });
    const { json: overview } = await get(person.browser, 'overview', used.id);
    assert.equal(overview.tokens.active_this_month, 1);
    assert.equal(overview.tokens.included_this_month, 1_000);
    const ofToken = overview.tokens.by_type.find(({ type }: { type: string }) => type === 'token');
    assert.deepEqual(ofToken, { type: 'token', ...report.token_report.metrics_by_type.token });
  });

  it('first steps are done by what happens, each by its own', async () => {
    const fresh = await app.makeTenant('Fresh');
    const person = await makePerson(app, fresh.id, 'ADMIN');
    const { browser } = person;
    const done = async () => {
      const { json } = await get(browser, 'overview', fresh.id);
      const steps = json.first_steps as { step: string; is_done: boolean }[];
      assert.equal(steps.length, 7);
      return steps.filter(({ is_done: isDone }) => isDone).map(({ step }) => step);
    };
    await app.db.owner.query('DELETE FROM members WHERE tenant_id = $1 AND user_id <> $2', [fresh.id, person.userId]);
    // The management key of the test has every permission of its type.
    assert.deepEqual(await done(), ['create_application']);
    const all = await app.makeApplication(fresh.id, 'private', TOKEN_RIGHTS);
    const { json: token } = await app.call('POST', '/tokens', { key: all.key, body: { data: 'x' } });
    assert.deepEqual(await done(), ['create_application', 'create_token']);
    await app.call('GET', `/tokens/${token.id}`, { key: all.key });
    assert.deepEqual(await done(), ['create_application', 'create_token', 'read_token']);
    await app.makeApplication(fresh.id, 'public', ['token:create']);
    assert.deepEqual((await done()).at(-1), 'narrow_access');
    const invited = await app.call('POST', '/tenants/self/invitations', {
      key: fresh.key,
      body: { email: 'somebody@example.com' },
    });
    assert.equal(invited.status, 201, invited.text);
    assert.deepEqual((await done()).at(-1), 'invite_member');
    const { secret } = (await browser.call('POST', '/portal/api/authenticator')).json;
    const code = hotp(bytesOfBase32(secret), Math.floor(clock.nowMs() / TOTP_STEP_MS));
    assert.equal((await browser.call('POST', '/portal/api/authenticator/confirm', { code })).status, 200);
    assert.deepEqual((await done()).at(-1), 'add_second_factor');
    const reactor = { name: 'R', code: 'module.exports = async () => ({ raw: {} });' };
    const made = await app.call('POST', '/reactors', { key: fresh.key, body: reactor });
    assert.equal(made.status, 201, made.text);
    assert.equal((await done()).length, 7);
  });

  it('refusals are said to be logged where they are', async () => {
    const full = await startTestApp({ clock, env: { STRONGROOM_AUDIT: 'full' } });
    try {
      const audited = await full.makeTenant();
      const person = await makePerson(full, audited.id, 'ADMIN');
      const key = await full.makeKey(audited.id, 'management', ['tenant:read']);
      assert.equal((await full.call('GET', '/logs', { key })).status, 403);
      const { json } = await person.browser.call('GET', `/portal/api/tenants/${audited.id}/overview`);
      assert.deepEqual([json.refusals.is_logged, json.refusals.total], [true, 1]);
      assert.deepEqual(json.refusals.days.at(-1), { date: dateOf(0), count: 1 });
    } finally {
      await full.close();
    }
  });
});
