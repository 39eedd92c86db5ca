// needs: time

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { Answer } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Browser } from './portal-fixture.js';
import { makePerson, openBrowser } from './portal-fixture.js';

const PORTAL_MAX = 600;
const GLOBAL_MAX = 1_000;
const LIST_MAX = 100;
const BLOCK_MS = 10_000;
const AT_ONCE = 50;
const PORTAL = '"portal";q=600;w=10';
/** A call of the Portal that costs next to nothing. */
const OPTIONS_PATH = '/portal/api/sign-in-options';

type Send = (index: number) => Promise<Answer>;

async function statusesOf(count: number, send: Send): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  for (let sent = 0; sent < count; sent += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - sent) }, (_, index) => send(sent + index));
    for (const { status } of await Promise.all(batch)) statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
}

function assertBlocked({ status, headers, json }: Answer, policy: string, seconds: number): void {
  const [name] = policy.split(';');
  assert.deepEqual([status, json?.code], [429, 'rate_limited']);
  assert.equal(headers.get('retry-after'), String(seconds));
  assert.equal(headers.get('ratelimit-policy'), policy);
  assert.equal(headers.get('ratelimit'), `${name};r=0;t=${seconds}`);
}

describe('the rate scope of the Portal', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let browser: Browser;
  let addresses = 0;
  before(async () => {
    clock = createFakeClock(Date.now());
    const env = { STRONGROOM_RATE_LIMITS: 'on', STRONGROOM_TRUSTED_PROXIES: 'loopback' };
    app = await startTestApp({ clock, env });
    tenant = await app.makeTenant();
    ({ browser } = await makePerson(app, tenant.id, 'ADMIN'));
  });
  after(() => app.close());

  /** One that nobody has used. */
  function newAddress(): string {
    addresses += 1;
    return `198.51.100.${addresses}`;
  }
  const via = (address: string) => ({ 'X-Forwarded-For': address });
  const portal =
    (address: string): Send =>
    () =>
      app.call('GET', OPTIONS_PATH, { headers: via(address) });
  const byCookie = (address: string, path = '/roles', further: Readonly<Record<string, string>> = {}) =>
    browser.call('GET', path, undefined, { ...via(address), 'SVC-TENANT-ID': tenant.id, ...further });
  const byKey = (address: string, path = '/roles') => app.call('GET', path, { key: tenant.key, headers: via(address) });

  it('429 for call 601 of one address in ten seconds, for ten seconds; others go on, also behind the same proxy', async () => {
    const address = newAddress();
    assert.deepEqual(await statusesOf(PORTAL_MAX, portal(address)), { 200: PORTAL_MAX });
    assertBlocked(await portal(address)(0), PORTAL, 10);
    assert.equal((await portal(newAddress())(0)).status, 200);
    clock.advance(BLOCK_MS - 1);
    assertBlocked(await portal(address)(0), PORTAL, 1);
    clock.advance(1);
    assert.equal((await portal(address)(0)).status, 200);
  });

  it('counts calls of nobody, calls of a session and tenant routes by cookie together', async () => {
    const address = newAddress();
    const each: readonly Send[] = [
      portal(address),
      () => browser.call('GET', '/portal/api/me', undefined, via(address)),
      () => byCookie(address),
      () => byCookie(address, '/tenants/self'),
    ];
    const send: Send = (index) => (each[index % each.length] ?? portal(address))(index);
    assert.deepEqual(await statusesOf(PORTAL_MAX, send), { 200: PORTAL_MAX });
    for (const blocked of each) assertBlocked(await blocked(0), PORTAL, 10);
  });

  it('says no to a cookie on a tenant route without a header by which another origin could read it', async () => {
    const address = newAddress();
    await statusesOf(PORTAL_MAX, portal(address));
    const refused = await byCookie(address);
    assertBlocked(refused, PORTAL, 10);
    assert.equal(refused.headers.get('access-control-allow-origin'), null);
  });

  it('counts what is refused and what is not there: 401, 403, 404 and 405', async () => {
    const address = newAddress();
    const headers = via(address);
    const each: readonly Send[] = [
      () => app.call('GET', '/portal/api/me', { headers }),
      () => app.call('POST', '/portal/api/sign-out', { headers }),
      () => app.call('GET', '/portal/nothing.js', { headers }),
      () => app.call('PUT', OPTIONS_PATH, { headers }),
    ];
    const send: Send = (index) => (each[index % each.length] ?? portal(address))(index);
    const of = PORTAL_MAX / each.length;
    assert.deepEqual(await statusesOf(PORTAL_MAX, send), { 401: of, 403: of, 404: of, 405: of });
    assertBlocked(await portal(address)(0), PORTAL, 10);
  });

  it('counts tries to sign in of nobody, whatever account they name, and stops them before a password is looked at', async () => {
    const address = newAddress();
    const signIn: Send = () =>
      openBrowser(app).call(
        'POST',
        '/portal/api/sign-in',
        { email: `${randomUUID()}@example.com`, password: 'x' },
        via(address),
      );
    const statuses = await statusesOf(PORTAL_MAX, signIn);
    assert.deepEqual((statuses[401] ?? 0) + (statuses[429] ?? 0), PORTAL_MAX, JSON.stringify(statuses));
    const failures = await failuresCounted();
    assertBlocked(await signIn(0), PORTAL, 10);
    assert.equal(await failuresCounted(), failures);
  });

  async function failuresCounted(): Promise<string> {
    return (await app.db.owner.query('SELECT coalesce(sum(count), 0)::text AS all FROM sign_in_failures')).rows[0].all;
  }

  it('does not count calls with a key: they go on when the Portal is blocked, and take nothing from it', async () => {
    const address = newAddress();
    const keyed = GLOBAL_MAX - PORTAL_MAX - 10;
    assert.deepEqual(await statusesOf(keyed, () => byKey(address)), { 200: keyed });
    assert.deepEqual(await statusesOf(PORTAL_MAX, portal(address)), { 200: PORTAL_MAX });
    assertBlocked(await portal(address)(0), PORTAL, 10);
    assert.equal((await byKey(address)).status, 200);
    assertBlocked(await byCookie(address), PORTAL, 10);
  });

  it('counts a key that is sent to the Portal’s own calls: it must not lead around the limit', async () => {
    const address = newAddress();
    const send: Send = () => app.call('GET', OPTIONS_PATH, { key: tenant.key, headers: via(address) });
    assert.deepEqual(await statusesOf(PORTAL_MAX, send), { 200: PORTAL_MAX });
    assertBlocked(await send(0), PORTAL, 10);
  });

  it('is not reached by a flood of keys in a narrower scope: the Portal has all of its calls', async () => {
    const address = newAddress();
    const list: Send = () => byKey(address, '/tokens');
    const flood = await statusesOf(LIST_MAX + AT_ONCE, list);
    assert.equal(flood[429], AT_ONCE);
    assert.deepEqual(await statusesOf(PORTAL_MAX, portal(address)), { 200: PORTAL_MAX });
    assertBlocked(await portal(address)(0), PORTAL, 10);
  });

  it('counts by address and not by session: one cookie from two addresses has two counters', async () => {
    const [first, second] = [newAddress(), newAddress()];
    await statusesOf(PORTAL_MAX + 1, () => byCookie(first));
    assertBlocked(await byCookie(first), PORTAL, 10);
    assert.equal((await byCookie(second)).status, 200);
    assert.equal(
      (await byCookie(first, '/roles', via(`${first}, ${second}`))).status,
      200,
      'the right-most is the client',
    );
    assertBlocked(await byCookie(second, '/roles', via(`${second}, ${first}`)), PORTAL, 10);
  });

  it('is part of the global one: a thousand calls with a key from one address block its Portal as well', async () => {
    const address = newAddress();
    await statusesOf(GLOBAL_MAX, () => byKey(address));
    assertBlocked(await portal(address)(0), '"global";q=1000;w=10', 10);
  });
});
