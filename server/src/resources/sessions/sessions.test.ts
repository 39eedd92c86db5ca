import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isWellFormedApiKey } from '../../access/api-key.js';
import type { RuleDraft } from '../../access/check-rules.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { Answer, CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { sweepSessions } from './expiry/sweep.js';

const START_MS = Date.UTC(2030, 0, 15, 12);
const DAY_MS = 24 * 3_600_000;
const NONCE = 'A'.repeat(22);

interface Session {
  readonly id: string;
  readonly session_key: string;
  readonly nonce: string;
  readonly expires_at: string;
}

describe('sessions', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let tenant: TestTenant;
  let shop: { id: string; key: string };
  let backend: { id: string; key: string };
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
    shop = await app.makeApplication(tenant.id, 'public', ['token:create']);
    backend = await app.makeApplication(tenant.id, 'private', ['token:read', 'token:create']);
  });
  after(() => app.close());

  const open = async (key = shop.key): Promise<Session> => (await app.call('POST', '/sessions', { key })).json;
  const authorize = (body: object, key = backend.key): Promise<Answer> =>
    app.call('POST', '/sessions/authorize', { key, body });
  const statusOf = async (key: string) => (await app.call('GET', '/permissions', { key })).status;

  async function entries(id: string): Promise<unknown[]> {
    const found = await app.db.owner.query(
      `SELECT operation, message, actor_type, actor_id FROM logs WHERE entity_type = 'session' AND entity_id = $1
       ORDER BY created_at, id`,
      [id],
    );
    return found.rows.map((row) => [row.operation, row.message, row.actor_type, row.actor_id]);
  }

  describe('POST /sessions', () => {
    it('201 with exactly id, key, nonce and an end three minutes ahead; one entry; no secret is stored', async () => {
      const { status, json, headers } = await app.call('POST', '/sessions', { key: shop.key });
      assert.deepEqual([status, Object.keys(json).sort()], [201, ['expires_at', 'id', 'nonce', 'session_key']]);
      assert.ok(isWellFormedApiKey(json.session_key) && json.session_key.startsWith('key_ses_'));
      assert.match(json.nonce, /^[0-9A-Za-z]{22}$/);
      assert.equal(Date.parse(json.expires_at), clock.nowMs() + 180_000);
      assert.equal(headers.get('location'), null);
      assert.deepEqual(await entries(json.id), [['create', 'Session created', 'application', shop.id]]);
      const rows = await app.db.owner.query('SELECT s::text AS row FROM sessions s');
      const kept = JSON.stringify(rows.rows) + app.logLines.join('');
      assert.ok(!kept.includes(json.session_key) && !kept.includes(json.nonce));
    });

    it('201 with every kind of empty body', async () => {
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      for (const options of [{}, { raw: '' }, { raw: '', headers: form }, { body: {} }, { body: { x: 1 } }]) {
        assert.equal((await app.call('POST', '/sessions', { key: shop.key, ...options })).status, 201);
      }
    });

    it('403 wrong_application_type with a private, a management or a session key, and nothing is written', async () => {
      const { session_key } = await open();
      const count = async () => (await app.db.owner.query('SELECT FROM sessions')).rowCount;
      const before = await count();
      for (const key of [backend.key, tenant.key, session_key]) {
        const { status, json } = await app.call('POST', '/sessions', { key });
        assert.deepEqual([status, json.code], [403, 'wrong_application_type']);
      }
      assert.equal(await count(), before);
    });

    it('200 where any key will do and 403 elsewhere as long as it is not authorized; 401 after three minutes', async () => {
      const { session_key } = await open();
      assert.equal(await statusOf(session_key), 200);
      for (const [method, path, code] of [
        ['GET', '/logs', 'permission_denied'],
        ['GET', '/applications', 'permission_denied'],
        ['GET', '/applications/key', 'wrong_application_type'],
        ['DELETE', '/tenants/self', 'permission_denied'],
        ['POST', '/sessions/authorize', 'wrong_application_type'],
      ] as const) {
        const { status, json } = await app.call(method, path, { key: session_key });
        assert.deepEqual([status, json.code], [403, code], path);
      }
      clock.advance(179_999);
      assert.equal(await statusOf(session_key), 200);
      clock.advance(1);
      assert.equal(await statusOf(session_key), 401);
    });
  });

  describe('POST /sessions/authorize', () => {
    it('200 with an empty body, one entry, and an unchanged end; the key had been used before', async () => {
      const session = await open();
      assert.equal(await statusOf(session.session_key), 200);
      clock.advance(1);
      const { status, text } = await authorize({ nonce: session.nonce, permissions: ['token:read'] });
      assert.deepEqual([status, text], [200, '']);
      assert.deepEqual((await entries(session.id)).at(-1), [
        'authorize',
        'Session authorized',
        'application',
        backend.id,
      ]);
      clock.advance(179_998);
      assert.equal(await statusOf(session.session_key), 200);
      clock.advance(1);
      assert.equal(await statusOf(session.session_key), 401);
    });

    it('200 with an end up to 24 hours ahead, in either notation of dates', async () => {
      const session = await open();
      const end = new Date(clock.nowMs() + DAY_MS).toISOString();
      assert.equal(
        (await authorize({ nonce: session.nonce, permissions: ['token:read'], expires_at: end })).status,
        200,
      );
      clock.advance(DAY_MS - 1);
      assert.equal(await statusOf(session.session_key), 200);
      clock.advance(1);
      assert.equal(await statusOf(session.session_key), 401);
      const other = await open();
      const day = new Date(clock.nowMs() + DAY_MS);
      const expires_at = `${day.getUTCMonth() + 1}/${day.getUTCDate()}/${day.getUTCFullYear()}`;
      assert.equal((await authorize({ nonce: other.nonce, permissions: ['token:read'], expires_at })).status, 200);
    });

    it('409 for a nonce that was used, also when twenty try at once: one of them wins', async () => {
      const session = await open();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => authorize({ nonce: session.nonce, permissions: ['token:read'] })),
      );
      const statuses = answers.map(({ status }) => status);
      assert.deepEqual([statuses.filter((one) => one === 200).length, new Set(statuses)], [1, new Set([200, 409])]);
      const refused = await authorize({ nonce: session.nonce, permissions: ['token:create'] });
      assert.deepEqual([refused.status, refused.json.code], [409, 'session_already_authorized']);
      assert.equal((await entries(session.id)).length, 2);
    });

    it('404, the same to the byte, for an unknown, an expired and another tenant’s nonce', async () => {
      const expired = await open();
      clock.advance(180_000);
      const other = await app.makeTenant();
      const theirs = await open(await app.makeKey(other.id, 'public', ['token:create']));
      const seen = await Promise.all(
        [NONCE, expired.nonce, theirs.nonce].map(async (nonce) => {
          const { status, text, json } = await authorize({ nonce, permissions: ['token:read'] });
          return [status, text.replace(json.trace_id, '')];
        }),
      );
      assert.equal(seen[0]?.[0], 404);
      assert.deepEqual(seen[1], seen[0]);
      assert.deepEqual(seen[2], seen[0]);
      const back = await app.makeKey(other.id, 'private', ['token:read']);
      assert.equal((await authorize({ nonce: theirs.nonce, permissions: ['token:read'] }, back)).status, 200);
    });

    it('403 wrong_application_type with a public, a management or a session key, before the body is read', async () => {
      const session = await open();
      await authorize({ nonce: session.nonce, permissions: ['token:read'] });
      for (const key of [shop.key, tenant.key, session.session_key]) {
        const { status, json } = await app.call('POST', '/sessions/authorize', { key, raw: '{' });
        assert.deepEqual([status, json.code], [403, 'wrong_application_type']);
      }
    });

    const RULE: RuleDraft = { priority: 1, container: '/pci/', permissions: ['token:read'] };
    const CONDITION = { attribute: 'id', operator: 'equals', value: 'x' } as const;
    const far = (ms: number) => new Date(START_MS + 10 * DAY_MS + ms).toISOString();
    for (const [circumstance, body, path] of [
      ['no nonce', { nonce: undefined }, 'nonce'],
      ['a null nonce', { nonce: null }, 'nonce'],
      ['a short nonce', { nonce: 'A'.repeat(21) }, 'nonce'],
      ['a long nonce', { nonce: 'A'.repeat(23) }, 'nonce'],
      ['a nonce with other characters', { nonce: `${'A'.repeat(21)}-` }, 'nonce'],
      ['a nonce with a line end', { nonce: `${NONCE}\n` }, 'nonce'],
      ['a nonce that is no text', { nonce: 7 }, 'nonce'],
      ['nothing granted', { permissions: [] }, 'permissions'],
      ['neither field', { permissions: null }, 'permissions'],
      ['a management permission', { permissions: ['tenant:read'] }, 'permissions'],
      ['an unknown permission', { permissions: ['token:all'] }, 'permissions'],
      [
        'a rule with a management permission',
        { rules: [{ ...RULE, permissions: ['log:read'] }] },
        'rules[0].permissions',
      ],
      ['a rule without a place', { rules: [{ ...RULE, container: undefined }] }, 'rules[0].container'],
      ['a rule with both places', { rules: [{ ...RULE, conditions: [CONDITION] }] }, 'rules[0].conditions'],
      [
        'a condition on another attribute',
        { rules: [{ ...RULE, container: undefined, conditions: [{ ...CONDITION, attribute: 'type' }] }] },
        'rules[0].conditions[0].attribute',
      ],
      [
        'a condition without a value',
        { rules: [{ ...RULE, container: undefined, conditions: [{ ...CONDITION, value: '' }] }] },
        'rules[0].conditions[0].value',
      ],
      [
        'too many conditions',
        { rules: [{ ...RULE, container: undefined, conditions: Array(21).fill(CONDITION) }] },
        'rules[0].conditions',
      ],
      ['an end in the past', { expires_at: far(-1) }, 'expires_at'],
      ['an end that is now', { expires_at: far(0) }, 'expires_at'],
      ['an end beyond a day', { expires_at: far(DAY_MS + 1) }, 'expires_at'],
      ['an end that is no date', { expires_at: 'soon' }, 'expires_at'],
    ] as const) {
      it(`400 naming ${path} for ${circumstance}, and the nonce still works`, async () => {
        clock.jumpTo(START_MS + 10 * DAY_MS);
        const session = await open();
        const refused = await authorize({ nonce: session.nonce, permissions: ['token:read'], ...body });
        assert.deepEqual([refused.status, Object.keys(refused.json.errors)], [400, [path]]);
        assert.equal((await authorize({ nonce: session.nonce, permissions: ['token:read'] })).status, 200);
      });
    }
  });

  it('401 at once after the Application that made or authorized the session was deleted or its end came', async () => {
    const management = (method: string, path: string, options: CallOptions = {}) =>
      app.call(method, `/applications${path}`, { key: tenant.key, ...options });
    const make = async (type: string, expires_at?: string) =>
      (await management('POST', '', { body: { name: 'A', type, permissions: ['token:create'], expires_at } })).json;
    const expires_at = new Date(clock.nowMs() + 60_000).toISOString();
    for (const [maker, authorizer, end] of [
      [await make('public'), await make('private'), 'maker'],
      [await make('public'), await make('private'), 'authorizer'],
      [await make('public', expires_at), await make('private'), 'time'],
      [await make('public'), await make('private', expires_at), 'time'],
    ]) {
      clock.jumpTo(Date.parse(expires_at) - 60_000);
      const session = await open(maker.key);
      assert.equal(
        (await authorize({ nonce: session.nonce, permissions: ['token:create'] }, authorizer.key)).status,
        200,
      );
      assert.equal(await statusOf(session.session_key), 200);
      if (end === 'time') clock.advance(60_000);
      else await management('DELETE', `/${(end === 'maker' ? maker : authorizer).id}`);
      assert.equal(await statusOf(session.session_key), 401, end);
    }
  });

  for (const [circumstance, edit] of [
    ['more permissions', `permissions = '{token:use}'`],
    ['a wider rule', `rules = replace(rules, '/pci/', '/')`],
    ['a later end', `expires_at = expires_at + interval '1 day'`],
    ['another authorizer', 'authorized_by = created_by'],
    ['another seal', `mac = decode(repeat('00', 32), 'hex')`],
  ] as const) {
    it(`503 and a security line for a session edited in the database (${circumstance})`, async () => {
      const session = await open();
      const rules = [{ priority: 1, container: '/pci/', permissions: ['token:read'] }];
      await authorize({ nonce: session.nonce, permissions: ['token:read'], rules });
      await app.db.owner.query(`UPDATE sessions SET ${edit} WHERE id = $1`, [session.id]);
      const { status, json } = await app.call('GET', '/permissions', { key: session.session_key });
      assert.deepEqual([status, json.code], [503, 'storage_unavailable']);
      const told = app.logLines
        .join('')
        .split('\n')
        .find((line) => line.includes(session.id) && line.includes('fault'));
      assert.match(told ?? '', /"stream":"security"/);
    });
  }

  it('503 for a nonce pointed at another session in the database: it is given nothing', async () => {
    const [victim, thief] = [await open(), await open()];
    await app.db.owner.query(
      `UPDATE sessions AS t SET nonce_hash = v.nonce_hash FROM sessions v WHERE t.id = $1 AND v.id = $2`,
      [thief.id, victim.id],
    );
    await app.db.owner.query('DELETE FROM sessions WHERE id = $1', [victim.id]);
    assert.equal((await authorize({ nonce: victim.nonce, permissions: ['token:read'] })).status, 503);
    const found = await app.db.owner.query('SELECT authorized_by FROM sessions WHERE id = $1', [thief.id]);
    assert.equal(found.rows[0].authorized_by, null);
  });

  it('the sweep removes sessions past their end and no other', async () => {
    const [due, kept] = [await open(), await open()];
    const expires_at = new Date(clock.nowMs() + 3_600_000).toISOString();
    await authorize({ nonce: kept.nonce, permissions: ['token:read'], expires_at });
    clock.advance(180_000);
    assert.ok((await sweepSessions(app.database, clock.nowMs())) >= 1);
    assert.equal(await sweepSessions(app.database, clock.nowMs()), 0);
    const found = await app.db.owner.query('SELECT id FROM sessions WHERE id = ANY ($1)', [[due.id, kept.id]]);
    assert.deepEqual(found.rows, [{ id: kept.id }]);
    assert.equal(await statusOf(kept.session_key), 200);
  });
});
