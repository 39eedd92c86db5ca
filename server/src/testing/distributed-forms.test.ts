// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generateRootKey } from '../crypto/root-key.js';
import { distribute } from '../storage/distribution/distribute.js';
import { installCitusStandIn } from './citus-stand-in.js';
import { eventually } from './eventually.js';
import type { Pair } from './isolation-pair.js';
import { makePair, stored } from './isolation-pair.js';
import { leaksIn, walkIsolation } from './isolation-walk.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';
import type { TestDatabase } from './test-database.js';
import { createTestDatabase } from './test-database.js';

/**
 * Everything that is put to a distributed database in other words is put so to one server here: the same tables, the policies
 * that distribution leaves, and nobody who spreads them. What Citus itself does with the words is for a run on a cluster.
 */
describe('the forms for a distributed database, on one server', () => {
  let db: TestDatabase;
  let app: TestApp;
  let pair: Pair;
  before(async () => {
    db = await createTestDatabase();
    await installCitusStandIn(db.owner);
    await distribute(db.ownerTarget);
    app = await startTestApp({ beside: { db: { ...db, isDistributed: true }, rootKey: generateRootKey() } });
    pair = await makePair(app);
  });
  after(async () => {
    await app?.close();
    await db?.drop();
  });

  const hashesOf = async (tenantId: string): Promise<Set<string>> => {
    const { rows } = await app.db.owner.query<{ hash: Buffer }>(
      'SELECT hash FROM credential_directory WHERE tenant_id = $1',
      [tenantId],
    );
    return new Set(rows.map(({ hash }) => hash.toString('hex')));
  };

  it('a walk with the keys of A over every route shows nothing of B and changes nothing of B', async () => {
    const untouched = await stored(app, pair.b);
    const steps = await walkIsolation(app, pair.a, pair.b.names);
    assert.deepEqual(leaksIn(steps, pair.secretsOfB), []);
    assert.deepEqual([...new Set(steps.map(({ answer }) => answer.status))].sort(), [200, 201, 204, 400, 404]);
    assert.equal(await stored(app, pair.b), untouched);
  });

  it('the directory has every key, session and Proxy of a tenant, and none that is gone', async () => {
    const { rows } = await app.db.owner.query<{ hash: Buffer }>(
      `SELECT hash FROM api_keys WHERE tenant_id = $1 UNION ALL SELECT hash FROM sessions WHERE tenant_id = $1
       UNION ALL SELECT key_hash FROM proxies WHERE tenant_id = $1
       UNION ALL SELECT secret_hash FROM invitations WHERE tenant_id = $1`,
      [pair.b.id],
    );
    const known = await hashesOf(pair.b.id);
    assert.ok(rows.length > 4);
    for (const { hash } of rows) assert.ok(known.has(hash.toString('hex')));
    const { key, id } = await app.makeApplication(pair.b.id, 'private', ['token:create']);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
    assert.equal((await hashesOf(pair.b.id)).size, known.size + 1);
    assert.equal((await app.call('DELETE', `/applications/${id}`, { key: pair.b.key })).status, 204);
    assert.deepEqual(await hashesOf(pair.b.id), known);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 401);
  });

  it('a hundred tokens at once, some of them alike, are made once each and found', async () => {
    const { privateKey: key } = pair.b;
    const make = (n: number) => {
      const data = { number: '4000056655665556', expiration_month: 1, expiration_year: 2030 + (n % 10) };
      const body = { type: 'card', data, deduplicate_token: true, search_indexes: ['{{ data.number }}'] };
      return app.call('POST', '/tokens', { key, body });
    };
    const made = await Promise.all(Array.from({ length: 100 }, (_, n) => make(n)));
    for (const { status, text } of made) assert.ok(status === 201 || status === 200, text);
    const ids = new Set(made.map(({ json }) => json.id));
    const body = { query: 'data:4000056655665556', size: 100 };
    const found = (await app.call('POST', '/tokens/search', { key, body })).json;
    assert.deepEqual(new Set(found.data.map(({ id }: { id: string }) => id)), ids);
    assert.equal(found.pagination.total_items, ids.size);
  });

  it('a living tenant loses nothing to a purge; a deleted one loses everything but its log', async () => {
    const untouched = await stored(app, pair.b);
    const gone = await app.database.purge(pair.b.id, (tx) =>
      tx.run({ name: 'take_all', text: 'DELETE FROM tokens WHERE tenant_id = $1 RETURNING id' }, [pair.b.id]),
    );
    assert.deepEqual(gone, []);
    assert.equal((await app.call('DELETE', '/tenants/self', { key: pair.a.key })).status, 204);
    await eventually('A is purged', async () => !/^(?!tenants |logs )\w+ [1-9]/m.test(await stored(app, pair.a)));
    assert.equal(await stored(app, pair.b), untouched);
  });
});
