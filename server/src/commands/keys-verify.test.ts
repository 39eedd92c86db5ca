// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeUser } from '../resources/members/member-fixture.js';
import type { CommandSettings } from '../testing/command-runner.js';
import { runCommand, urlOf } from '../testing/command-runner.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';

/** Keys of the installation; of a tenant three keys, and an Application with its key. */
const [OF_INSTALLATION, OF_TENANT] = [5, 6];

describe('strongroom keys verify', () => {
  let app: TestApp;
  let settings: CommandSettings;
  let tenant: TestTenant;
  let other: TestTenant;
  before(async () => {
    app = await startTestApp();
    settings = { STRONGROOM_DATABASE_URL: urlOf(app.db.target), STRONGROOM_ROOT_KEY: rootKeyOf(app).reveal() };
    [tenant, other] = [await app.makeTenant(), await app.makeTenant()];
    const key = await app.makeKey(tenant.id, 'private', ['token:create']);
    for (const data of ['one', 'two'])
      assert.equal((await app.call('POST', '/tokens', { key, body: { data } })).status, 201);
  });
  after(() => app?.close());

  const verify = (...words: string[]) => runCommand(settings, 'keys', 'verify', ...words);

  /** All that is stored, as the owner sees it, without what PostgreSQL keeps for itself. */
  async function stored(): Promise<string> {
    const { rows: tables } = await app.db.owner.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    const contents: unknown[] = [];
    for (const { name } of tables) {
      // The service beside it writes when keys were last used, when it likes.
      const { rows } = await app.db.owner.query(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM ${name} t ORDER BY 1`);
      contents.push([name, rows]);
    }
    return JSON.stringify(contents);
  }

  it('0 and the count on standard error, nothing on standard output, and no row is changed', async () => {
    const before = await stored();
    const { code, stdout, stderr } = await verify();
    // Two tokens, and the second Application of the one tenant with its key.
    const rows = OF_INSTALLATION + 2 * OF_TENANT + 2 + 2;
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.ok(stderr.endsWith(`Tenants: 2. Rows opened: ${rows}. Rows that do not open: 0.`), stderr);
    assert.equal(await stored(), before);
  });

  it('0 with --tenant for that tenant, the keys of the installation among the rows', async () => {
    const { code, stderr } = await verify('--tenant', other.id);
    assert.equal(code, 0);
    assert.ok(
      stderr.endsWith(`Tenants: 1. Rows opened: ${OF_INSTALLATION + OF_TENANT}. Rows that do not open: 0.`),
      stderr,
    );
  });

  it('1 with each altered row on standard output, also one that grants rights', async () => {
    const { owner } = app.db;
    const changed = await owner.query(
      `UPDATE applications SET permissions = permissions || '{tenant:delete}' WHERE tenant_id = $1 RETURNING id`,
      [other.id],
    );
    const { code, stdout, stderr } = await verify();
    assert.deepEqual([code, stdout], [1, `fault  ${other.id}  applications  ${changed.rows[0].id}`]);
    assert.match(stderr, /Rows that do not open: 1\.$/);
  });

  it('1 with an altered row of a user, by its id and without its address; with --tenant nobody looks there', async () => {
    const { owner } = app.db;
    const id = await makeUser(app, 'ada@example.com');
    await owner.query(`UPDATE users SET email = 'thief@example.com' WHERE id = $1`, [id]);
    const { code, stdout, stderr } = await verify();
    assert.equal(code, 1);
    assert.ok(stdout.split('\n').includes(`fault  -  users  ${id}`), stdout);
    assert.doesNotMatch(stdout + stderr, /@/);
    assert.doesNotMatch((await verify('--tenant', tenant.id)).stdout, /users/);
    await owner.query('DELETE FROM users WHERE id = $1', [id]);
  });

  it('0 where a row is missing, which it cannot tell: docs/keys.md says so', async () => {
    const { owner } = app.db;
    await owner.query('DELETE FROM token_terms WHERE tenant_id = $1', [tenant.id]);
    const gone = await owner.query(
      'DELETE FROM tokens WHERE tenant_id = $1 AND id = (SELECT min(id) FROM tokens WHERE tenant_id = $1)',
      [tenant.id],
    );
    assert.equal(gone.rowCount, 1);
    assert.equal((await verify('--tenant', tenant.id)).code, 0);
  });
});
