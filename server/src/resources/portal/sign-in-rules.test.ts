import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatDate } from '../../kernel/dates.js';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Browser, Person } from './portal-fixture.js';
import { makePerson, PASSWORD } from './portal-fixture.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

describe('a tenant that asks for a second factor', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let owner: Person;
  let admin: Person;
  let reader: Person;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ours');
    owner = await makePerson(app, tenant.id, 'OWNER');
    admin = await makePerson(app, tenant.id, 'ADMIN');
    reader = await makePerson(app, tenant.id, 'READ_ONLY');
  });
  after(() => app.close());

  const rules = () => `/portal/api/tenants/${tenant.id}/sign-in-rules`;
  const open = ({ browser }: { browser: Browser }) =>
    browser.call('GET', '/tenants/self', undefined, { 'SVC-TENANT-ID': tenant.id });
  const signInAgain = ({ browser, email }: Person) =>
    browser.call('POST', '/portal/api/sign-in', { email, password: PASSWORD });
  async function addFactor({ browser }: Person): Promise<string> {
    const { secret } = (await browser.call('POST', '/portal/api/authenticator')).json;
    const code = hotp(bytesOfBase32(secret), Math.floor(clock.nowMs() / TOTP_STEP_MS));
    assert.equal((await browser.call('POST', '/portal/api/authenticator/confirm', { code })).status, 200);
    return secret;
  }

  it('is one only by an owner or ADMIN, with a fresh sign-in, who can follow the rule', async () => {
    const from = formatDate(clock.nowMs() + 7 * DAY_MS);
    const refused = await reader.browser.call('PUT', rules(), { second_factor_from: from });
    assert.deepEqual([refused.status, refused.json.code], [403, 'permission_denied']);
    const unable = await admin.browser.call('PUT', rules(), { second_factor_from: from });
    assert.deepEqual([unable.status, Object.keys(unable.json.errors)], [400, ['second_factor_from']]);
    await addFactor(admin);
    clock.advance(11 * MINUTE_MS);
    const stale = await admin.browser.call('PUT', rules(), { second_factor_from: from });
    assert.deepEqual([stale.status, stale.json.code], [403, 'step_up_required']);
    const odd = await admin.browser.call('PUT', rules(), { second_factor_from: 'soon' });
    assert.equal(odd.status, 403, 'who has to step up is told nothing of the body');
  });

  it('says from when and who is affected, has it in the log, and refuses nobody before', async () => {
    await signInAgain(owner);
    await addFactor(owner);
    const from = formatDate(clock.nowMs() + 7 * DAY_MS);
    const set = await owner.browser.call('PUT', rules(), { second_factor_from: from });
    assert.equal(set.status, 200);
    assert.equal(set.json.second_factor_from, from);
    const lacking = set.json.without_second_factor as { email?: string }[];
    assert.deepEqual(
      lacking.map(({ email }) => email).filter((email) => email !== undefined),
      [reader.email],
    );
    await signInAgain(reader);
    assert.equal((await open(reader)).status, 200);
    const [membership] = (await reader.browser.call('GET', '/portal/api/me')).json.memberships;
    assert.equal(membership.second_factor_from, from, 'members are told in time');
    const visits = (await app.call('GET', '/logs?entity_type=tenant_member&operation=sign_in', { key: tenant.key }))
      .json;
    assert.ok(
      visits.data.some(({ actor_id: id }: { actor_id: string }) => id === owner.userId),
      'its first act is told',
    );
    const { data } = (await app.call('GET', '/logs?entity_type=tenant', { key: tenant.key })).json;
    const entry = data.find(({ message }: { message: string }) => message.includes('sign in rules changed'));
    assert.deepEqual([entry.operation, entry.actor_type, entry.actor_id], ['update', 'user', owner.userId]);
  });

  it('403 second_factor_required from that moment on, everywhere in the tenant; nobody is removed', async () => {
    clock.advance(7 * DAY_MS);
    await signInAgain(reader);
    for (const answer of [await open(reader), await reader.browser.call('GET', rules())]) {
      assert.deepEqual([answer.status, answer.json.code], [403, 'second_factor_required']);
    }
    const members = (await app.call('GET', '/tenants/self/members', { key: tenant.key })).json.data;
    assert.ok(members.some(({ user }: { user: { id: string } }) => user.id === reader.userId));
    assert.equal((await reader.browser.call('GET', '/portal/api/me')).json.memberships.length, 1);
    await addFactor(reader);
    assert.equal((await open(reader)).status, 200);
  });

  it('keys are not people: they go on', async () => {
    assert.equal((await app.call('GET', '/tenants/self', { key: tenant.key })).status, 200);
  });

  it('takes the rule back, and a rule that was never set asks for nothing', async () => {
    const other = await app.makeTenant('Open');
    const free = await makePerson(app, other.id, 'OWNER');
    const { json } = await free.browser.call('GET', `/portal/api/tenants/${other.id}/sign-in-rules`);
    assert.equal(json.second_factor_from, undefined);
    const back = await free.browser.call('PUT', `/portal/api/tenants/${other.id}/sign-in-rules`, {
      second_factor_from: null,
      issuer_id: null,
    });
    assert.equal(back.status, 200);
  });
});
