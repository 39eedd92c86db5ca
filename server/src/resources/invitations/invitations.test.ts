import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { permissionsOfRole } from '../../access/roles.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makeMember } from '../members/member-fixture.js';

const ALL = '/tenants/self/invitations';
const HOUR_MS = 3_600_000;

describe('invitations', () => {
  const clock = createFakeClock(Date.now());
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock, env: { STRONGROOM_PORTAL_URL: 'https://vault.example' } });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const call = (method: string, path: string, body?: object, key = tenant.key) =>
    app.call(method, path, { key, ...(body && { body }) });
  const invite = (body: object, key?: string) => call('POST', ALL, body, key);
  const secretHashes = async (id: string): Promise<string[]> => {
    const sql = `SELECT encode(secret_hash, 'hex') AS hash FROM invitations WHERE id = $1`;
    return (await app.db.owner.query<{ hash: string }>(sql, [id])).rows.map(({ hash }) => hash);
  };

  it('201 with a link to the Portal, whose secret is stored nowhere and shown never again', async () => {
    const { status, json, headers } = await invite({ email: 'Ada@Example.com' });
    assert.equal(status, 201);
    assert.deepEqual([json.email, json.role, json.status], ['Ada@Example.com', 'ADMIN', 'PENDING']);
    assert.equal(headers.get('location'), `${ALL}/${json.id}`);
    assert.equal(Date.parse(json.expires_at) - Date.parse(json.created_at), 72 * HOUR_MS);
    const [, secret = ''] =
      /^https:\/\/vault\.example\/portal\/invitations\/accept#([0-9A-Za-z]{43})$/.exec(json.link) ?? [];
    assert.notEqual(secret, '');
    const { json: got } = await call('GET', `${ALL}/${json.id}`);
    const { link: _, ...shown } = json;
    assert.deepEqual(got, shown);
    const rows = await app.db.owner.query('SELECT * FROM invitations');
    const [hash = ''] = await secretHashes(json.id);
    assert.equal(JSON.stringify(rows.rows).includes(secret), false);
    assert.equal(hash.includes(Buffer.from(secret).toString('hex')), false);
    assert.equal(app.logLines.join('').includes(secret), false);
  });

  it('are listed newest first and by status; those past their 72 hours are expired', async () => {
    const { key } = await app.makeTenant();
    await invite({ email: 'old@example.com' }, key);
    clock.advance(72 * HOUR_MS);
    await invite({ email: 'new@example.com', role: 'READ_ONLY' }, key);
    const emails = async (query: string) =>
      (await call('GET', `${ALL}${query}`, undefined, key)).json.data.map(({ email }: { email: string }) => email);
    assert.deepEqual(await emails(''), ['new@example.com', 'old@example.com']);
    assert.deepEqual(await emails('?status=PENDING'), ['new@example.com']);
    assert.deepEqual(await emails('?status=EXPIRED'), ['old@example.com']);
    assert.equal((await call('GET', `${ALL}?status=pending`, undefined, key)).status, 400);
  });

  it('200 for sending it again: new hours, a new link, the old one dead', async () => {
    const { json: first } = await invite({ email: 'again@example.com' });
    const [before] = await secretHashes(first.id);
    clock.advance(HOUR_MS);
    const { status, json } = await call('POST', `${ALL}/${first.id}/resend`);
    assert.equal(status, 200);
    assert.notEqual(json.link, first.link);
    assert.equal(Date.parse(json.expires_at) - Date.parse(first.expires_at), HOUR_MS);
    assert.notEqual((await secretHashes(first.id))[0], before);
    const { json: logged } = await call('GET', `/logs?entity_type=tenant_invitation&entity_id=${first.id}`);
    assert.deepEqual(
      logged.data.map(({ operation, message }: { operation: string; message: string }) => [operation, message]),
      [
        ['update', 'Invitation resent'],
        ['create', 'Invitation created'],
      ],
    );
  });

  it('204 once for deleting it, 404 from then on', async () => {
    const { json } = await invite({ email: 'gone@example.com' });
    const path = `${ALL}/${json.id}`;
    const statuses = [];
    for (const method of ['DELETE', 'DELETE', 'GET']) statuses.push((await call(method, path)).status);
    statuses.push((await call('POST', `${path}/resend`)).status, (await call('GET', `${ALL}/${randomUUID()}`)).status);
    assert.deepEqual(statuses, [204, 404, 404, 404, 404]);
  });

  it('409 for a member of the tenant, in any case of letters; not for a member of another', async () => {
    const email = `${randomUUID()}@example.com`;
    await makeMember(app, tenant.id, 'ADMIN', email);
    const refused = await invite({ email: email.toUpperCase() });
    assert.deepEqual([refused.status, refused.json.code], [409, 'already_member']);
    assert.equal((await invite({ email }, (await app.makeTenant()).key)).status, 201);
  });

  for (const email of [
    ...['', 'x', '@example.com', 'a@', 'a b@example.com', 'a@b@example.com', 'a..b@example.com', '.a@example.com'],
    ...['a@example..com', 'a@-example.com', 'a\r\nBcc: b@example.com', '"a"@example.com', `${'a'.repeat(330)}@b.de`],
    ...['a\u0000@example.com', 7, null],
  ]) {
    it(`400 for the address ${JSON.stringify(email).slice(0, 40)}`, async () => {
      const { status, json } = await invite({ email });
      assert.deepEqual([status, Object.keys(json.errors)], [400, ['email']]);
    });
  }

  for (const email of [
    'a@localhost',
    'a.b+c@sub.example.com',
    "o'hara@example.com",
    'jürgen@bücher.example',
    'A@B.DE',
  ]) {
    it(`201 for the address ${email}`, async () => {
      assert.equal((await invite({ email })).status, 201);
    });
  }

  it('403 for a role with more than the caller has, at first and when it is sent again', async () => {
    const reader = [...permissionsOfRole('READ_ONLY'), 'tenant:invitation:create', 'tenant:invitation:update'];
    const key = await app.makeKey(tenant.id, 'management', reader);
    const { json } = await invite({ email: 'boss@example.com' });
    const before = await secretHashes(json.id);
    for (const { status, json: problem } of [
      await invite({ email: 'me@example.com' }, key),
      await invite({ email: 'me@example.com', role: 'ADMIN' }, key),
      await call('POST', `${ALL}/${json.id}/resend`, undefined, key),
    ]) {
      assert.deepEqual([status, problem.code], [403, 'role_not_grantable']);
    }
    assert.deepEqual(await secretHashes(json.id), before);
    assert.equal((await invite({ email: 'me@example.com', role: 'READ_ONLY' }, key)).status, 201);
  });

  it('a repeat under an idempotency key has the link for the same key alone', async () => {
    const other = await app.makeKey(tenant.id, 'management', [...permissionsOfRole('OWNER')]);
    const post = (key: string) =>
      app.call('POST', ALL, { key, body: { email: 'twice@example.com' }, headers: { 'SVC-IDEMPOTENCY-KEY': 'twice' } });
    const [first, again] = [await post(tenant.key), await post(tenant.key)];
    assert.deepEqual([again.status, again.json], [201, first.json]);
    assert.notEqual((await post(other)).json.id, first.json.id);
  });

  it('503 and a line in the security log for an invitation that was edited in the database', async () => {
    const { key } = await app.makeTenant();
    const { json } = await invite({ email: 'edit@example.com', role: 'READ_ONLY' }, key);
    await app.db.owner.query(`UPDATE invitations SET role = 'ADMIN' WHERE id = $1`, [json.id]);
    assert.equal((await call('GET', `${ALL}/${json.id}`, undefined, key)).status, 503);
    assert.equal((await call('POST', `${ALL}/${json.id}/resend`, undefined, key)).status, 503);
    assert.ok(app.logLines.some((line) => line.includes('a stored invitation was altered')));
  });
});
