// needs: processes

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { generateApiKey } from '../access/api-key.js';
import { generateRootKey } from '../crypto/root-key.js';
import { systemClock } from '../kernel/clock.js';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../people/factors/totp.js';
import type { Browser } from '../resources/portal/portal-fixture.js';
import { openBrowser } from '../resources/portal/portal-fixture.js';
import type { CommandSettings, Served } from '../testing/command-runner.js';
import { serveWith, succeed } from '../testing/command-runner.js';
import { makeScratch } from '../testing/transfer.js';

const PASSWORD = 'correct horse battery staple 17';
const SIGN_IN = '/portal/api/sign-in';
const [OWNER, GUEST] = ['owner@example.com', 'guest@example.com'];

describe('people after a restore', () => {
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let base: CommandSettings;
  let restored: CommandSettings;
  let server: Served;
  /** Of before the backup: the session, the recovery codes, the secret behind # in an invitation. */
  let kept: { readonly cookie: string; readonly codes: readonly string[]; readonly invitation: string };
  let tenantId: string;
  before(async () => {
    scratch = await makeScratch();
    const key = generateApiKey('management').reveal();
    base = { STRONGROOM_ROOT_KEY: generateRootKey().reveal(), STRONGROOM_BOOTSTRAP_API_KEY: key };
    const lost = { ...base, STRONGROOM_DATA_DIR: join(scratch.path, 'lost') };
    server = await serveWith(lost);
    const { stdout } = await succeed(lost, 'user', 'create', '--email', OWNER);
    const secret = stdout.slice(stdout.indexOf('#') + 1).trim();
    const browser = browserOf(server);
    assert.equal(
      (await browser.call('POST', '/portal/api/password/reset', { secret, password: PASSWORD })).status,
      204,
    );
    tenantId = (await server.call('GET', '/tenants/self', { key })).json.id;
    await succeed(lost, 'tenant', 'transfer', '--tenant', tenantId, '--to', OWNER);
    assert.equal((await browser.call('POST', SIGN_IN, { email: OWNER, password: PASSWORD })).status, 200);
    const codes = await addAuthenticator(browser);
    const as = { 'SVC-TENANT-ID': tenantId };
    const { json } = await browser.call('POST', '/tenants/self/invitations', { email: GUEST }, as);
    kept = { cookie: browser.cookie, codes, invitation: json.link.split('#')[1] };
    await succeed(lost, 'backup', '--to', join(scratch.path, 'backup'));
    await server.stop();
    restored = { ...base, STRONGROOM_DATA_DIR: join(scratch.path, 'restored') };
    await succeed(restored, 'restore', '--from', join(scratch.path, 'backup'));
  });
  after(async () => {
    server.kill();
    await scratch.remove();
  });

  const browserOf = ({ call, address }: Served) => openBrowser({ call, baseUrl: address });

  async function addAuthenticator(browser: Browser): Promise<string[]> {
    const { secret } = (await browser.call('POST', '/portal/api/authenticator')).json;
    const code = hotp(bytesOfBase32(secret), Math.floor(systemClock.nowMs() / TOTP_STEP_MS));
    const { status, json } = await browser.call('POST', '/portal/api/authenticator/confirm', { code });
    assert.equal(status, 200);
    return json.recovery_codes;
  }

  it('every row of theirs opens by its key', async () => {
    assert.match((await succeed(restored, 'keys', 'verify')).stderr, /Rows that do not open: 0/);
  });

  it('users, passwords, second factors, sessions, members and invitations are as they were', async () => {
    server = await serveWith(restored);
    const before = browserOf(server);
    before.cookie = kept.cookie;
    const { json: me } = await before.call('GET', '/portal/api/me');
    assert.deepEqual([me.user.email, me.memberships[0].tenant_id, me.memberships[0].role], [OWNER, tenantId, 'OWNER']);

    const browser = browserOf(server);
    const typed = { email: OWNER, password: PASSWORD };
    assert.equal((await browser.call('POST', SIGN_IN, typed)).status, 401, 'the authenticator is asked for');
    const [code] = kept.codes;
    assert.equal((await browser.call('POST', SIGN_IN, { ...typed, one_time_code: code })).status, 200);
    assert.equal((await browser.call('GET', '/portal/api/factors')).json.recovery_codes_left, 9);

    const guest = browserOf(server);
    const body = { secret: kept.invitation, password: PASSWORD };
    assert.equal((await guest.call('POST', '/portal/api/invitations/register', body)).status, 200);
    const as = { 'SVC-TENANT-ID': tenantId };
    const { json } = await browser.call('GET', '/tenants/self/members', undefined, as);
    const roles = json.data.map(({ user, role }: { user: { email: string }; role: string }) => [user.email, role]);
    assert.ok(roles.some(([email, role]: string[]) => email === GUEST && role === 'ADMIN'));
    await server.stop();
  });
});
