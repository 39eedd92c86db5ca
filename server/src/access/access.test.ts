import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { BEFORE_ECHO_MS, eventually } from '../testing/eventually.js';
import { createFakeClock } from '../testing/fake-clock.js';
import type { Answer } from '../testing/http-client.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';
import { applicationTypeOfKey, containsKey, generateApiKey, isSessionKey, isWellFormedApiKey } from './api-key.js';
import { keyMac, rightsMac } from './row-macs.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Three seconds for a connection, and a machine that others use too. */
const ANSWER_MAX_MS = 30_000;
const TYPES = { public: 'pub', private: 'pvt', management: 'mgt' } as const;

/** The checksum by the textbook, bit by bit, so that the product's is not compared with itself. */
function crc32(text: string): number {
  let rest = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return (rest ^ 0xffffffff) >>> 0;
}

function withChecksum(body: string): string {
  let [rest, digits] = [crc32(body), ''];
  for (let place = 0; place < 6; place += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return body + digits;
}

describe('the format of a key', () => {
  it('secrets of callbacks and root keys are found in a text as keys are, and words like them are not', () => {
    assert.ok(containsKey(`before rcs_${'a1'.repeat(20)} after`));
    assert.ok(containsKey(`before rk1_${'a'.repeat(43)} after`));
    assert.ok(!containsKey(`rcs_${'a'.repeat(39)}`) && !containsKey('key_pub_short'));
  });

  for (const [type, mark] of Object.entries(TYPES)) {
    it(`is key_${mark}_, 26 random characters and the checksum, for a ${type} application`, () => {
      const keys = Array.from({ length: 500 }, () => generateApiKey(type as keyof typeof TYPES).reveal()); // A key of the table.
      assert.equal(new Set(keys).size, keys.length);
      for (const key of keys) {
        assert.match(key, new RegExp(`^key_${mark}_[0-9A-Za-z]{32}$`));
        assert.equal(key, withChecksum(key.slice(0, -6)));
        assert.ok(isWellFormedApiKey(key) && containsKey(`before ${key} after`));
        assert.equal(applicationTypeOfKey(key), type);
      }
      const used = new Set(keys.flatMap((key) => [...key.slice(8, -6)]));
      assert.equal(used.size, ALPHABET.length, 'every character of the alphabet is drawn');
    });
  }

  it('is checked by the standard CRC-32 in base 62, digits before capitals before small letters', () => {
    assert.equal(crc32('123456789'), 0xcbf43926);
    assert.equal(withChecksum('123456789'), '1234567893jZRME');
  });

  it('refuses a key with any one character changed, left out, added or swapped with its neighbour', () => {
    const key = generateApiKey('management').reveal();
    for (let at = 0; at < key.length; at += 1) {
      const [before, here, next, rest] = [key.slice(0, at), key.charAt(at), key.charAt(at + 1), key.slice(at + 1)];
      for (const other of `${ALPHABET}_-+/ \n\u0000é`) {
        if (other !== here) assert.ok(!isWellFormedApiKey(before + other + rest), `${other} at ${at}`);
        assert.ok(!isWellFormedApiKey(before + other + here + rest), `${other} added at ${at}`);
      }
      assert.ok(!isWellFormedApiKey(before + rest), `without ${at}`);
      if (next !== '' && next !== here)
        assert.ok(!isWellFormedApiKey(before + next + here + key.slice(at + 2)), `swapped at ${at}`);
    }
  });

  it('is key_ses_ for a session, which is the key of no application type', () => {
    const key = generateApiKey('session').reveal();
    assert.match(key, /^key_ses_[0-9A-Za-z]{32}$/);
    assert.equal(key, withChecksum(key.slice(0, -6)));
    assert.ok(isWellFormedApiKey(key) && isSessionKey(key) && containsKey(key));
    assert.equal(applicationTypeOfKey(key), undefined);
    assert.ok(!isSessionKey(generateApiKey('public').reveal()));
  });

  it('refuses other kinds of credentials and a key of another type with a checksum of its own', () => {
    const random = 'A'.repeat(26);
    assert.ok(isWellFormedApiKey(withChecksum(`key_mgt_${random}`)));
    for (const prefix of ['key_prx_', 'key_xxx_', 'KEY_mgt_', 'key-mgt-']) {
      assert.ok(!isWellFormedApiKey(withChecksum(prefix + random)), prefix);
    }
    for (const text of ['', 'key_mgt_', ' ', withChecksum(`key_mgt_${random}A`)]) assert.ok(!isWellFormedApiKey(text));
  });
});

describe('authentication', () => {
  const clock = createFakeClock(Date.UTC(2030, 0, 15));
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock, env: { STRONGROOM_HEADER_PREFIXES: 'SVC,BT' } });
  });
  after(() => app.close());

  const ask = (key: string | undefined) => app.call('GET', '/tenants/self', { ...(key !== undefined && { key }) });

  /** What a stranger can see, without what differs from request to request. */
  function visible({ status, json, headers }: Answer): unknown {
    const { trace_id, ...body } = json;
    assert.ok(trace_id);
    return { status, body, challenge: headers.get('www-authenticate'), length: headers.get('content-length') };
  }

  async function makeKey(tenant: TestTenant): Promise<{ key: string; id: string }> {
    const key = await app.makeKey(tenant.id, 'management', ['tenant:read']);
    const found = await app.db.owner.query<{ id: string }>(
      `SELECT id FROM applications WHERE tenant_id = $1 AND permissions = '{tenant:read}'`,
      [tenant.id],
    );
    return { key, id: found.rows[0]?.id ?? '' };
  }

  /** An end set the way the product would set it, seal included. */
  async function expireApplication(tenant: TestTenant, id: string, expiresAt: Date): Promise<void> {
    const rights = {
      tenantId: tenant.id,
      id,
      type: 'management',
      permissions: ['tenant:read'],
      rules: '[]',
      expiresAt,
    };
    await app.db.owner.query('UPDATE applications SET expires_at = $2, mac = $3 WHERE id = $1', [
      id,
      expiresAt,
      rightsMac(app.keyStore.systemKeys.rowMac, rights),
    ]);
  }

  async function expireKey(tenant: TestTenant, applicationId: string, expiresAt: Date): Promise<void> {
    const found = await app.db.owner.query<{ hash: Buffer; id: string }>(
      'SELECT hash, id FROM api_keys WHERE application_id = $1',
      [applicationId],
    );
    for (const { hash, id } of found.rows) {
      const mac = keyMac(app.keyStore.systemKeys.rowMac, { hash, tenantId: tenant.id, applicationId, id, expiresAt });
      await app.db.owner.query('UPDATE api_keys SET expires_at = $2, mac = $3 WHERE id = $1', [id, expiresAt, mac]);
    }
  }

  function securityLines(): Record<string, unknown>[] {
    const lines = app.logLines.join('').split('\n');
    return lines.filter((line) => line.includes('"stream":"security"')).map((line) => JSON.parse(line));
  }

  it('401 missing_api_key without a header or with an empty one, and says where the key belongs', async () => {
    for (const key of [undefined, '']) {
      const { status, json, headers } = await ask(key);
      assert.deepEqual([status, json.code], [401, 'missing_api_key']);
      assert.equal(headers.get('www-authenticate'), 'ApiKey realm="strongroom", header="SVC-API-KEY"');
      assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
    }
  });

  it('401 invalid_api_key, the same to the byte, for every other reason', async () => {
    const [tenant, deleted] = [await app.makeTenant(), await app.makeTenant()];
    const wrongChecksum = tenant.key.slice(0, -1) + (tenant.key.endsWith('A') ? 'B' : 'A');
    const expired = await makeKey(tenant);
    await expireKey(tenant, expired.id, new Date(clock.nowMs()));
    const other = await app.makeTenant();
    const ended = await makeKey(other);
    await expireApplication(other, ended.id, new Date(clock.nowMs()));
    await app.call('DELETE', '/tenants/self', { key: deleted.key });
    const expected = visible(await ask('nonsense'));
    for (const [reason, key] of [
      ['a wrong checksum', wrongChecksum],
      ['another case', tenant.key.toUpperCase()],
      ['too long', 'x'.repeat(5_000)],
      ['a key that does not exist', generateApiKey('management').reveal()],
      ['a session key', withChecksum(`key_ses_${'A'.repeat(26)}`)],
      ['an expired key', expired.key],
      ['a key of an expired application', ended.key],
      ['a key of a deleted tenant', deleted.key],
    ] as const) {
      assert.deepEqual(visible(await ask(key)), expected, reason);
    }
    assert.deepEqual((expected as { body: { code: string } }).body.code, 'invalid_api_key'); // As made above.
    assert.equal((await ask(tenant.key)).status, 200);
  });

  it('401 from the very millisecond a key or its application ends, though it was just used', async () => {
    const [tenant, other] = [await app.makeTenant(), await app.makeTenant()];
    const [key, application] = [await makeKey(tenant), await makeKey(other)];
    const endsAt = new Date(clock.nowMs() + 1_000);
    await expireKey(tenant, key.id, endsAt);
    await expireApplication(other, application.id, endsAt);
    const statuses = async () => [(await ask(key.key)).status, (await ask(application.key)).status];
    clock.advance(999);
    assert.deepEqual(await statuses(), [200, 200]);
    clock.advance(1);
    assert.deepEqual(await statuses(), [401, 401]);
  });

  it('401 names the header under the prefix the client used', async () => {
    const answer = await app.call('GET', '/tenants/self', { headers: { 'BT-API-KEY': 'nonsense' } });
    assert.equal(answer.headers.get('www-authenticate'), 'ApiKey realm="strongroom", header="BT-API-KEY"');
  });

  it('401 leaves a line in the security log with the reason, and never the key', async () => {
    const key = generateApiKey('management').reveal();
    await app.call('GET', '/logs', { key, headers: { 'SVC-TRACE-ID': 'trace-of-401' } });
    const [refused] = securityLines().filter((line) => line.traceId === 'trace-of-401');
    assert.ok(refused);
    assert.deepEqual(
      [refused.event, refused.reason, refused.route],
      ['unauthenticated', 'invalid_api_key', 'GET /logs'],
    );
    assert.ok(!app.logLines.join('').includes(key));
  });

  for (const [circumstance, edit] of [
    ['a permission added', `permissions = permissions || '{tenant:delete}'`],
    ['a permission taken away', `permissions = '{}'`],
    ['another type', `type = 'private'`],
    ['a later end', `expires_at = '9999-01-01'`],
    ['the seal of zeros', `mac = decode(repeat('00', 32), 'hex')`],
    ['the seal of another application', `mac = (SELECT mac FROM applications o WHERE o.id <> a.id LIMIT 1)`],
  ] as const) {
    it(`503 for an application edited in the database (${circumstance}); others go on`, async () => {
      const tenant = await app.makeTenant();
      const { key, id } = await makeKey(tenant);
      await app.db.owner.query(`UPDATE applications a SET ${edit} WHERE id = $1`, [id]);
      for (const path of ['/tenants/self', '/permissions']) {
        const { status, json, headers } = await app.call('GET', path, { key });
        assert.deepEqual([status, json.code, headers.get('retry-after')], [503, 'storage_unavailable', '1']);
      }
      const told = securityLines().filter((line) => line.applicationId === id);
      assert.deepEqual([told[0]?.event, told[0]?.tenantId], ['integrity_fault', tenant.id]);
      assert.equal((await ask(tenant.key)).status, 200);
    });
  }

  it('401 or 503 for a key moved in the database to another application: an edit there grants nothing', async () => {
    const [tenant, victim] = [await app.makeTenant('Mine'), await app.makeTenant('Theirs')];
    const weak = await app.makeKey(tenant.id, 'public', ['token:create']);
    await app.db.owner.query(
      `UPDATE api_keys k SET tenant_id = a.tenant_id, application_id = a.id FROM applications a
       WHERE a.tenant_id = $1 AND k.tenant_id = $2
         AND k.application_id = (SELECT id FROM applications WHERE tenant_id = $2 AND type = 'public')`,
      [victim.id, tenant.id],
    );
    const { status, text } = await ask(weak);
    assert.doesNotMatch(text, /Theirs/);
    assert.ok(status === 401 || status === 503, `answered ${status}`);
  });
});

describe('what a process remembers', () => {
  let first: TestApp;
  let second: TestApp;
  before(async () => {
    first = await startTestApp();
    second = await startTestApp({ beside: { db: first.db, rootKey: rootKeyOf(first) } });
    await eventually('both hear each other', () => [first, second].every(isHearing));
  });
  after(async () => {
    await second.close();
    await first.close();
  });

  const isHearing = (app: TestApp) => /^strongroom_changes_heard 1$/m.test(app.metrics.render());
  const nameOn = async (app: TestApp, { key }: TestTenant) =>
    (await app.call('GET', '/tenants/self', { key })).json.name;
  const renameBehindTheBack = (tenant: TestTenant, name: string) =>
    first.db.owner.query('UPDATE tenants SET name = $2 WHERE id = $1', [tenant.id, name]);

  it('401 in another process, which is told of it, after the 204 that deleted the tenant', async () => {
    const tenant = await first.makeTenant();
    const ask = async () => (await second.call('GET', '/permissions', { key: tenant.key })).status;
    assert.equal(await ask(), 200);
    await first.call('DELETE', '/tenants/self', { key: tenant.key });
    await eventually('the other process refuses the key', async () => (await ask()) === 401, BEFORE_ECHO_MS);
  });

  it('200 with the new name in another process, which is told of it, after the PUT', async () => {
    const tenant = await first.makeTenant('Old');
    assert.equal(await nameOn(second, tenant), 'Old');
    await first.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'New' } });
    await eventually('the other process knows', async () => (await nameOn(second, tenant)) === 'New', BEFORE_ECHO_MS);
  });

  /** Lets no new connection in and ends the one that listens; what answers requests stays connected. */
  async function cutListeners(): Promise<void> {
    await first.db.owner.query(`ALTER DATABASE ${databaseOf(first)} CONNECTION LIMIT 0`);
    await first.db.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND usename = 'strongroom' AND (query = 'SELECT 1' OR query LIKE 'LISTEN %')`,
    );
    await eventually('nobody listens', () => ![first, second].some(isHearing));
  }

  const databaseOf = ({ db }: TestApp) => pg.escapeIdentifier('database' in db.target ? db.target.database : '');
  const mendListeners = () => first.db.owner.query(`ALTER DATABASE ${databaseOf(first)} CONNECTION LIMIT -1`);

  it('200 with what is stored, not with what is remembered, as long as nobody can tell of changes', async () => {
    const tenant = await first.makeTenant('Old');
    assert.equal(await nameOn(second, tenant), 'Old');
    await renameBehindTheBack(tenant, 'Untold');
    assert.equal(await nameOn(second, tenant), 'Old', 'without a cut the memory answers, or this test shows nothing');
    try {
      await cutListeners();
      for (const name of ['During', 'the', 'cut']) {
        await renameBehindTheBack(tenant, name);
        assert.equal(await nameOn(second, tenant), name);
      }
      await first.call('DELETE', '/tenants/self', { key: tenant.key });
      assert.equal((await second.call('GET', '/permissions', { key: tenant.key })).status, 401);
    } finally {
      await mendListeners();
    }
    await eventually('both hear each other again', () => [first, second].every(isHearing));
  });

  it('200 with what is stored after the listener was cut and came back', async () => {
    const tenant = await first.makeTenant('Old');
    assert.equal(await nameOn(second, tenant), 'Old');
    await renameBehindTheBack(tenant, 'Missed');
    await cutListeners().finally(mendListeners);
    await eventually('both hear each other again', () => [first, second].every(isHearing));
    assert.equal(await nameOn(second, tenant), 'Missed');
  });
});

describe('a database that is gone', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const endConnections = () =>
    app.db.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'strongroom'`,
    );
  const database = () => pg.escapeIdentifier('database' in app.db.target ? app.db.target.database : '');

  async function askQuickly(method: string, path: string): Promise<Answer> {
    const startedMs = performance.now();
    const answer = await app.call(method, path, { key: tenant.key, ...(method === 'PUT' && { body: { name: 'N' } }) });
    assert.ok(performance.now() - startedMs < ANSWER_MAX_MS, `${method} ${path} took too long`);
    if (answer.status !== 200) {
      assert.deepEqual([answer.status, answer.json.code], [503, 'storage_unavailable'], `${method} ${path}`);
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
    }
    return answer;
  }

  for (const [method, path] of [
    ['GET', '/tenants/self'],
    ['GET', '/logs'],
    ['GET', '/tenants/self/reports/usage'],
    ['PUT', '/tenants/self'],
  ] as const) {
    it(`200 or 503 at once for ${method} ${path} after every connection broke, and soon 200 again`, async () => {
      await askQuickly(method, path);
      await endConnections();
      await askQuickly(method, path);
      await eventually('it is served again', async () => (await askQuickly(method, path)).status === 200);
    });
  }

  for (const [circumstance, refuse, admit] of [
    ['has no connection left', 'ALTER DATABASE %s CONNECTION LIMIT 0', 'ALTER DATABASE %s CONNECTION LIMIT -1'],
    ['refuses the login', 'REVOKE CONNECT ON DATABASE %s FROM PUBLIC', 'GRANT CONNECT ON DATABASE %s TO PUBLIC'],
  ] as const) {
    it(`503 for everything while the server ${circumstance}, readiness included, and 200 afterwards`, async () => {
      await app.db.owner.query(refuse.replace('%s', database()));
      try {
        await endConnections();
        for (const [method, path] of [
          ['GET', '/permissions'],
          ['GET', '/tenants/self'],
          ['PUT', '/tenants/self'],
          ['GET', '/readyz'],
        ] as const) {
          await eventually(`${path} is refused`, async () => (await askQuickly(method, path)).status === 503);
        }
        assert.equal((await app.call('GET', '/healthz')).status, 200);
      } finally {
        await app.db.owner.query(admit.replace('%s', database()));
      }
      await eventually('it is served again', async () => (await askQuickly('PUT', '/tenants/self')).status === 200);
      assert.equal((await app.call('GET', '/readyz')).status, 200);
    });
  }
});
