// needs: time

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { FakeClock } from '../../../testing/fake-clock.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import { makePerson } from '../../portal/portal-fixture.js';

const ALL = '/tenants/self/invitations';
const MINUTE_MS = 60_000;

describe('how many invitations there can be', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    // Nobody listens there: mail waits in the queue.
    const env = { STRONGROOM_SMTP_URL: 'smtp://127.0.0.1:9', STRONGROOM_MAIL_FROM: 'vault@example.com' };
    app = await startTestApp({ clock, env });
  });
  after(() => app.close());
  beforeEach(async () => {
    await app.db.owner.query('DELETE FROM mails');
    tenant = await app.makeTenant('Ours');
  });

  const invite = ({ key } = tenant, email = `${randomUUID()}@example.com`) =>
    app.call('POST', ALL, { key, body: { email } });

  async function fill(tenantId: string, count: number): Promise<void> {
    await app.db.owner.query(
      `INSERT INTO mails (id, due_at, attempts, created_at, sealed, on_behalf_of)
       SELECT gen_random_uuid(), now() + interval '1 year', 0, now(), '\\x01', $1::uuid FROM generate_series(1, $2)`,
      [tenantId, count],
    );
  }

  it('429 with Retry-After for the fourth mail of a tenant to one person, until a minute is over', async () => {
    const { json } = await invite();
    const resend = () => app.call('POST', `${ALL}/${json.id}/resend`, { key: tenant.key });
    assert.deepEqual([(await resend()).status, (await resend()).status], [200, 200]);
    const refused = await resend();
    assert.deepEqual([refused.status, refused.json.code], [429, 'rate_limited']);
    assert.equal(refused.headers.get('retry-after'), '60');
    assert.equal((await invite(tenant, json.email.toUpperCase())).status, 429, 'nor by another invitation');
    clock.advance(MINUTE_MS);
    assert.equal((await resend()).status, 200);
  });

  it('429 after 20 mails to one person from all tenants of an owner, and 201 for the tenant of another', async () => {
    const email = `${randomUUID()}@example.com`;
    const { browser } = await makePerson(app, tenant.id, 'READ_ONLY');
    const statuses: number[] = [];
    for (let i = 0; i < 7; i += 1) {
      const { json } = await browser.call('POST', '/portal/api/tenants', { name: `Tenant ${i}` });
      const as = { 'SVC-TENANT-ID': json.id };
      for (let k = 0; k < 3; k += 1) statuses.push((await browser.call('POST', ALL, { email }, as)).status);
    }
    assert.deepEqual(statuses, [...Array.from({ length: 20 }, () => 201), 429]);
    assert.equal((await invite(tenant, email)).status, 201);
  });

  it('429 for a tenant after 1,000 invitations, whomever it invites', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 250; i += 1) {
      const some = await Promise.all(Array.from({ length: 4 }, () => invite()));
      statuses.push(...some.map(({ status }) => status));
    }
    assert.deepEqual(
      statuses.filter((status) => status !== 201),
      [],
    );
    assert.equal((await invite()).status, 429);
    assert.equal((await invite(await app.makeTenant('Other'))).status, 201);
  });

  it('503 for a tenant of which 1,000 mails wait, and 201 for another', async () => {
    await fill(tenant.id, 1_000);
    assert.equal((await invite()).status, 503);
    assert.equal((await invite(await app.makeTenant('Other'))).status, 201);
  });

  it('503 for every tenant once their half of the queue is full; users still hear of sign-ins', async () => {
    for (let i = 0; i < 5; i += 1) await fill(randomUUID(), 1_000);
    assert.equal((await invite()).status, 503);
    await makePerson(app, tenant.id, 'ADMIN');
    const dropped = app.logLines.filter((line) => line.includes('notice_dropped'));
    assert.deepEqual(dropped, []);
    const { rows } = await app.db.owner.query('SELECT id FROM mails WHERE on_behalf_of IS NULL');
    assert.equal(rows.length, 1);
  });
});
