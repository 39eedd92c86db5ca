import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findProxyByKey } from '../resources/proxies/queries.js';
import type { SystemTx } from '../storage/scope.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { findCredentialByHash, findSessionByHash } from './queries.js';

const TENANTS = 5_000;

describe('looking for a key before its tenant is known', () => {
  let db: TestDatabase;
  before(async () => {
    db = await createTestDatabase();
    // As after a restore: many rows, and no statistics about any of them.
    await db.owner.query(`SET session_replication_role = replica`);
    for (const name of ['tenants', 'applications', 'api_keys', 'sessions', 'proxies']) {
      await db.owner.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
    }
    await db.owner.query(
      `INSERT INTO tenants (id, owner_id, name, created_at)
       SELECT gen_random_uuid(), gen_random_uuid(), 'x', now() FROM generate_series(1, ${TENANTS})`,
    );
    await db.owner.query(
      `INSERT INTO applications (tenant_id, id, name, type, permissions, mac, created_at)
       SELECT id, gen_random_uuid(), 'x', 'private', '{}', '\\x00', now() FROM tenants`,
    );
    await db.owner.query(
      `INSERT INTO api_keys (hash, tenant_id, application_id, id, mac, created_at)
       SELECT sha256(id::text::bytea), tenant_id, id, gen_random_uuid(), '\\x00', now() FROM applications`,
    );
    await db.owner.query(
      `INSERT INTO sessions (tenant_id, id, hash, nonce_hash, created_by, mac, expires_at, created_at)
       SELECT tenant_id, gen_random_uuid(), sha256(id::text::bytea), '\\x00', id, '\\x00', now(), now() FROM applications`,
    );
    await db.owner.query(
      `INSERT INTO proxies (tenant_id, id, name, key_hash, version, sealed, created_at)
       SELECT tenant_id, gen_random_uuid(), 'x', sha256(id::text::bytea), 1, '\\x00', now() FROM applications`,
    );
  });
  after(() => db.drop());

  /** The statement as the look-up sends it, planned for any value, in the role and with the settings of a scope. */
  async function planOf(find: (tx: SystemTx, hash: Buffer) => Promise<unknown>): Promise<string> {
    let text = '';
    const run: SystemTx['run'] = async (statement) => {
      text = statement.text;
      return [];
    };
    await find({ kind: 'system', run }, Buffer.alloc(32));
    await db.owner.query('BEGIN');
    try {
      await db.owner.query(`SET LOCAL role strongroom_system; SET LOCAL enable_sort = off`);
      await db.owner.query(`SET LOCAL plan_cache_mode = force_generic_plan; PREPARE look (bytea) AS ${text}`);
      const { rows } = await db.owner.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) EXECUTE look ('\\x00')`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    } finally {
      await db.owner.query('ROLLBACK');
      await db.owner.query('DEALLOCATE ALL');
    }
  }

  for (const [what, find, index] of [
    ['an API key', findCredentialByHash, /api_keys_by_hash/],
    ['a session', findSessionByHash, /sessions_by_hash/],
    ['a Proxy', findProxyByKey, /proxies_by_key/],
  ] as const) {
    it(`${what} is found by the index on hashes, and no table is walked, also without statistics`, async () => {
      const plan = await planOf(find);
      assert.match(plan, index);
      assert.doesNotMatch(plan, /Seq Scan|Hash Join/);
    });
  }
});
