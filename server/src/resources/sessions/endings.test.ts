import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sessionMac } from '../../access/row-macs.js';
import { macOf } from '../../crypto/keyed-hash.js';
import { BEFORE_ECHO_MS, eventually } from '../../testing/eventually.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';
import { sweepEndedKeys } from '../applications/expiry/sweep.js';
import { expireApplications } from '../applications/index.js';

const START_MS = Date.UTC(2030, 0, 15, 12);
const HOUR_MS = 3_600_000;
const UNKNOWN_ID = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
/** More than one request ends. */
const MANY = 1_200;

interface Session {
  readonly id: string;
  readonly session_key: string;
  readonly nonce: string;
}

describe('the end of a session', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let second: TestApp;
  let tenant: TestTenant;
  let shop: { readonly id: string; readonly key: string };
  before(async () => {
    app = await startTestApp({ clock });
    second = await startTestApp({ clock, beside: { db: app.db, rootKey: rootKeyOf(app) } });
    tenant = await app.makeTenant();
    shop = await app.makeApplication(tenant.id, 'public', ['token:create']);
    const isHearing = (one: TestApp) => /^strongroom_changes_heard 1$/m.test(one.metrics.render());
    await eventually('both hear each other', () => [app, second].every(isHearing));
  });
  after(async () => {
    await second.close();
    await app.close();
  });

  const manage = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, `/applications/${path}`, { key: tenant.key, ...options });
  const makeBackend = () => app.makeApplication(tenant.id, 'private', ['token:read']);
  const open = async (key = shop.key): Promise<Session> => (await app.call('POST', '/sessions', { key })).json;
  const statusOf = async (session: Session, by = app) =>
    (await by.call('GET', '/permissions', { key: session.session_key })).status;

  async function authorized(key: string, maker = shop.key): Promise<Session> {
    const session = await open(maker);
    const expires_at = new Date(clock.nowMs() + HOUR_MS).toISOString();
    const body = { nonce: session.nonce, permissions: ['token:read'], expires_at };
    assert.equal((await app.call('POST', '/sessions/authorize', { key, body })).status, 200);
    assert.deepEqual([await statusOf(session), await statusOf(session, second)], [200, 200]);
    return session;
  }

  async function assertEnded(session: Session, by: string | null): Promise<void> {
    assert.equal(await statusOf(session), 401, 'at once in the process that made the change');
    await eventually('soon in the other', async () => (await statusOf(session, second)) === 401, BEFORE_ECHO_MS);
    assert.deepEqual(await endings(session.id), [['delete', by]]);
  }

  async function endings(id: string): Promise<unknown[]> {
    const found = await app.db.owner.query(
      `SELECT operation, actor_id FROM logs WHERE entity_type = 'session' AND entity_id = $1 AND message = 'Session ended'`,
      [id],
    );
    return found.rows.map((row) => [row.operation, row.actor_id]);
  }

  async function manager(): Promise<string> {
    return (await manage('GET', 'key')).json.id;
  }

  describe('with the key that authorized it', () => {
    it('401 at once in every process after a regenerate without overlap, and an entry names who did it', async () => {
      const backend = await makeBackend();
      const session = await authorized(backend.key);
      assert.equal((await manage('POST', `${backend.id}/regenerate`)).status, 200);
      await assertEnded(session, await manager());
    });

    it('200 during an overlap and 401 from its very end on; the sweep writes the entry, without an actor', async () => {
      const backend = await makeBackend();
      const session = await authorized(backend.key);
      await manage('POST', `${backend.id}/regenerate`, { body: { overlap_seconds: 60 } });
      clock.advance(59_999);
      assert.deepEqual([await statusOf(session), await statusOf(session, second)], [200, 200]);
      clock.advance(1);
      assert.deepEqual([await statusOf(session), await statusOf(session, second)], [401, 401]);
      await sweepEndedKeys(app.database, clock.nowMs());
      await assertEnded(session, null);
      const left = await app.db.owner.query('SELECT FROM api_keys WHERE application_id = $1', [backend.id]);
      assert.equal(left.rowCount, 1, 'the key went with its sessions');
    });

    it('401 after DELETE of that key, and 200 for sessions of the other keys of the Application', async () => {
      const backend = await makeBackend();
      const further = (await manage('POST', `${backend.id}/keys`)).json;
      const [ended, kept] = [await authorized(further.key), await authorized(backend.key)];
      assert.equal((await manage('DELETE', `${backend.id}/keys/${further.id}`)).status, 204);
      await assertEnded(ended, await manager());
      assert.equal(await statusOf(kept), 200);
    });

    it('200 after the public key that made it was regenerated: a backend has vouched for it', async () => {
      const [maker, backend] = [await app.makeApplication(tenant.id, 'public', ['token:create']), await makeBackend()];
      const session = await authorized(backend.key, maker.key);
      await manage('POST', `${maker.id}/regenerate`);
      assert.equal(await statusOf(session), 200);
    });

    it('401 with an entry for each after the Application that made or authorized it was deleted', async () => {
      const [maker, backend] = [await app.makeApplication(tenant.id, 'public', ['token:create']), await makeBackend()];
      const [made, vouched] = [await authorized((await makeBackend()).key, maker.key), await authorized(backend.key)];
      for (const { id } of [maker, backend]) assert.equal((await manage('DELETE', id)).status, 204);
      await assertEnded(made, await manager());
      await assertEnded(vouched, await manager());
    });

    it('an entry without an actor when its Application expired', async () => {
      const expires_at = new Date(clock.nowMs() + 60_000).toISOString();
      const body = { name: 'A', type: 'private', permissions: ['token:read'], expires_at };
      const { key } = (await manage('POST', '', { body })).json;
      const session = await authorized(key);
      clock.advance(60_000);
      await expireApplications(app.database, tenant.id, clock.nowMs(), 100);
      await assertEnded(session, null);
    });

    it('401 for all of more than one request can end; the sweep ends the rest, each with its entry', async () => {
      const backend = await makeBackend();
      const session = await authorized(backend.key);
      await app.db.owner.query(
        `INSERT INTO sessions (tenant_id, id, hash, nonce_hash, created_by, authorized_by, authorized_key, mac, expires_at,
                               created_at)
         SELECT tenant_id, gen_random_uuid(), sha256(n::text::bytea), nonce_hash, created_by, authorized_by, authorized_key,
                mac, expires_at, created_at
         FROM sessions, generate_series(1, ${MANY}) AS n WHERE id = $1`,
        [session.id],
      );
      const ofBackend = 'FROM sessions WHERE authorized_by = $1';
      const ids = (await app.db.owner.query(`SELECT id::text ${ofBackend}`, [backend.id])).rows.map(({ id }) => id);
      await manage('POST', `${backend.id}/regenerate`);
      assert.equal(await statusOf(session), 401);
      const left = await app.db.owner.query(`SELECT ${ofBackend}`, [backend.id]);
      assert.ok(left.rowCount !== null && left.rowCount > 0 && left.rowCount < MANY);
      assert.deepEqual((await manage('GET', `${backend.id}/keys`)).json.length, 1, 'the stopped key is not shown');
      while ((await sweepEndedKeys(app.database, clock.nowMs())) > 0);
      assert.equal((await app.db.owner.query(`SELECT ${ofBackend}`, [backend.id])).rowCount, 0);
      assert.equal(
        (await app.db.owner.query('SELECT FROM api_keys WHERE application_id = $1', [backend.id])).rowCount,
        1,
      );
      const ended = await app.db.owner.query(
        `SELECT DISTINCT entity_id FROM logs WHERE message = 'Session ended' AND entity_id = ANY ($1)`,
        [ids],
      );
      assert.equal(ended.rowCount, MANY + 1);
    });

    it('503 for a session pointed at another key in the database, and for one whose key was altered', async () => {
      const backend = await makeBackend();
      const [pointed, altered] = [await authorized(backend.key), await authorized((await makeBackend()).key)];
      const [{ id: newer }] = [(await manage('POST', `${backend.id}/keys`)).json];
      await app.db.owner.query('UPDATE sessions SET authorized_key = $2 WHERE id = $1', [pointed.id, newer]);
      await app.db.owner.query(
        `UPDATE api_keys k SET expires_at = now() + interval '99 years' FROM sessions s
         WHERE s.id = $1 AND k.id = s.authorized_key`,
        [altered.id],
      );
      // Told of no change, a process goes by what it remembers; here it is told of one.
      await manage('POST', '', { body: { name: 'A', type: 'private', permissions: ['token:read'] } });
      assert.deepEqual([await statusOf(pointed), await statusOf(altered)], [503, 503]);
      await app.db.owner.query('UPDATE sessions SET authorized_key = NULL WHERE id = $1', [pointed.id]);
      assert.equal(await statusOf(pointed), 503, 'nor one that is made to look older than it is');
    });
  });

  describe('from before a session remembered its key', () => {
    it('200 until the next regenerate, whatever its overlap, and 401 from then on', async () => {
      const backend = await makeBackend();
      const session = await authorized(backend.key);
      const { rows } = await app.db.owner.query('SELECT * FROM sessions WHERE id = $1', [session.id]);
      const [row] = rows;
      const parts = [
        ...[row.hash, row.nonce_hash, row.tenant_id, row.id, row.created_by, row.authorized_by],
        ...[String(row.expires_at.getTime()), row.rules, ...row.permissions],
      ];
      const old = macOf(app.keyStore.systemKeys.rowMac, ['session-1', ...parts]);
      await app.db.owner.query('UPDATE sessions SET authorized_key = NULL, mac = $2 WHERE id = $1', [session.id, old]);
      const further = (await manage('POST', `${backend.id}/keys`)).json;
      await manage('DELETE', `${backend.id}/keys/${further.id}`);
      assert.equal(await statusOf(session), 200, 'whose it is nobody can say');
      await manage('POST', `${backend.id}/regenerate`, { body: { overlap_seconds: 3_600 } });
      await assertEnded(session, await manager());
    });

    it('the keyed hash of a row is fixed, with and without a key', () => {
      const key = app.keyStore.systemKeys.rowMac;
      const row = {
        ...{ hash: Buffer.from('h'), nonceHash: Buffer.from('n'), tenantId: 't', id: 'i', createdBy: 'c' },
        ...{ authorizedBy: 'a', permissions: ['y', 'x'], rules: '[]', expiresAt: new Date(7) },
      };
      const parts = [row.hash, row.nonceHash, 't', 'i', 'c', 'a'];
      assert.deepEqual(
        sessionMac(key, { ...row, authorizedKey: 'k' }),
        macOf(key, ['session-2', ...parts, 'k', '7', '[]', 'x', 'y']),
      );
      assert.deepEqual(
        sessionMac(key, { ...row, authorizedKey: null }),
        macOf(key, ['session-2', ...parts, '', '7', '[]', 'x', 'y']),
      );
    });
  });

  describe('DELETE /sessions/{id}', () => {
    const end = (id: string, key: string) => app.call('DELETE', `/sessions/${id}`, { key });
    const bare = ({ status, text, json }: Awaited<ReturnType<typeof end>>) => [
      status,
      text.replace(json?.trace_id ?? '-', ''),
    ];

    it('204 with a key of the Application that made it or of the one that authorized it, 401 from then on', async () => {
      const backend = await makeBackend();
      for (const { id, key } of [shop, backend]) {
        const session = await authorized(backend.key);
        const { status, text } = await end(session.id.toUpperCase(), key);
        assert.deepEqual([status, text], [204, '']);
        await assertEnded(session, id);
        assert.equal((await end(session.id, key)).status, 404, 'once');
      }
    });

    it('204 for one nobody has authorized: its nonce works no more, and nobody forgets anything for it', async () => {
      const backend = await makeBackend();
      const other = await authorized(backend.key);
      const session = await open();
      const remembered = () => /^strongroom_credentials_remembered (\d+)$/m.exec(second.metrics.render())?.[1];
      const before = remembered() ?? assert.fail('it is counted');
      assert.equal((await end(session.id, shop.key)).status, 204);
      const body = { nonce: session.nonce, permissions: ['token:read'] };
      assert.equal((await app.call('POST', '/sessions/authorize', { key: backend.key, body })).status, 404);
      assert.deepEqual([await statusOf(session), await statusOf(other), remembered()], [401, 200, before]);
    });

    it('404, the same to the byte, for everybody else and for what is no session; it lives on', async () => {
      const backend = await makeBackend();
      const session = await authorized(backend.key);
      const stranger = await app.makeTenant();
      const unknown = await end(UNKNOWN_ID, backend.key);
      assert.equal(unknown.status, 404);
      const others = [
        await end(session.id, (await makeBackend()).key),
        await end(session.id, tenant.key),
        await end(session.id, await app.makeKey(tenant.id, 'public', ['token:create'])),
        await end(session.id, await app.makeKey(stranger.id, 'private', ['token:read'])),
        await end(session.id, stranger.key),
        await end('x', backend.key),
      ];
      for (const answer of others) assert.deepEqual(bare(answer), bare(unknown));
      assert.equal(await statusOf(session), 200);
      clock.advance(HOUR_MS);
      assert.deepEqual(bare(await end(session.id, backend.key)), bare(unknown), 'past its end');
    });

    it('403 wrong_application_type with its own key or another session’s, and 401 without one', async () => {
      const backend = await makeBackend();
      const session = await authorized(backend.key);
      for (const key of [session.session_key, (await open()).session_key]) {
        const { status, json } = await end(session.id, key);
        assert.deepEqual([status, json.code], [403, 'wrong_application_type']);
      }
      assert.equal((await app.call('DELETE', `/sessions/${session.id}`)).status, 401);
      assert.equal(await statusOf(session), 200);
    });
  });
});
