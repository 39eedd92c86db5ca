import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatDate } from '../../kernel/dates.js';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from './portal-fixture.js';
import { makePerson } from './portal-fixture.js';

const HOUR_MS = 3_600_000;

describe('the members of a tenant, for its page', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let admin: Person;
  let reader: Person;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ours');
    admin = await makePerson(app, tenant.id, 'ADMIN');
    reader = await makePerson(app, tenant.id, 'READ_ONLY');
  });
  after(() => app.close());

  const path = () => `/portal/api/tenants/${tenant.id}/members`;
  const rowOf = async (by: Person, of: Person) => {
    const { status, json } = await by.browser.call('GET', path());
    assert.equal(status, 200);
    return json.data.find(({ user }: { user: { id: string } }) => user.id === of.userId);
  };

  it('says to the hour when each was last here, and nothing of who never was', async () => {
    assert.equal((await rowOf(admin, reader)).seen_at, undefined);
    const first = clock.nowMs();
    assert.equal((await rowOf(reader, reader)).seen_at, formatDate(first));
    clock.advance(HOUR_MS / 60);
    await rowOf(reader, reader);
    clock.advance(2 * HOUR_MS);
    await rowOf(reader, reader);
    assert.equal((await rowOf(admin, reader)).seen_at, formatDate(clock.nowMs()));
  });

  it('says who has a second factor', async () => {
    assert.equal((await rowOf(reader, admin)).has_second_factor, false);
    const fresh = await makePerson(app, tenant.id, 'ADMIN');
    const { secret } = (await fresh.browser.call('POST', '/portal/api/authenticator')).json;
    assert.equal((await rowOf(reader, fresh)).has_second_factor, false, 'one that is not confirmed is none');
    const code = hotp(bytesOfBase32(secret), Math.floor(clock.nowMs() / TOTP_STEP_MS));
    await fresh.browser.call('POST', '/portal/api/authenticator/confirm', { code });
    assert.equal((await rowOf(reader, fresh)).has_second_factor, true);
  });

  it('is a page of them, and hidden from members of other tenants as if it were not there', async () => {
    const { json } = await admin.browser.call('GET', `${path()}?size=1`);
    assert.equal(json.data.length, 1);
    assert.ok(json.pagination.total_items >= 3);
    const stranger = await makePerson(app, (await app.makeTenant('Others')).id, 'ADMIN');
    const refused = await stranger.browser.call('GET', path());
    const unknown = await stranger.browser.call('GET', path().replace(tenant.id, stranger.userId));
    assert.deepEqual([refused.status, refused.json.detail], [404, unknown.json.detail]);
  });
});
