import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { emptyAnswersShowing } from '../../kept-answers/queries.js';
import { newId } from '../../kernel/ids.js';
import { createGather } from '../../storage/bulk.js';
import type { TenantTx } from '../../storage/scope.js';
import { ENTER_SCOPE } from '../../storage/scope.js';
import type { Value } from '../../storage/statement.js';
import { ONE_SERVER_ALONE } from '../../testing/cluster-only.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import { setModified } from '../carry/queries.js';
import { releaseClaim } from '../make/claim-queries.js';
import type { RanPlan } from '../plan-rows-fixture.js';
import { rowsRead } from '../plan-rows-fixture.js';
import { deleteTerms, deleteTokens, updateToken } from '../queries.js';
import type { TokenRow } from '../stored/row.js';
import { updateSealed } from '../upkeep/reseal-queries.js';

const SMALL_TENANTS = 4_000;
const TOKENS_OF_SMALL = 5;
const TOKENS = 20_000;
/** As many as share a transaction when many callers come at once. */
const CHANGED = 64;
/** A changed row is looked for by its key and found at its place. */
const READ_MAX = CHANGED * 4;

const TABLES = ['tokens', 'token_terms', 'token_claims', 'kept_tokens', 'idempotency_keys'];

describe('changes of many tokens at once, of a tenant that the statistics do not know', {
  skip: ONE_SERVER_ALONE,
}, () => {
  const tenantId = newId();
  let db: TestDatabase;
  before(async () => {
    db = await createTestDatabase();
    await db.owner.query('SET session_replication_role = replica');
    for (const name of TABLES) await db.owner.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
    await db.owner.query(
      `CREATE TEMP TABLE owners AS SELECT gen_random_uuid() AS id FROM generate_series(1, ${SMALL_TENANTS})`,
    );
    await fill(`(SELECT id AS tenant FROM owners) AS o, generate_series(1, ${TOKENS_OF_SMALL}) AS n`);
    for (const name of TABLES) await db.owner.query(`ANALYZE ${name}`);
    await fill(`(SELECT '${tenantId}'::uuid AS tenant) AS o, generate_series(1, ${TOKENS}) AS n`);
  });
  after(() => db.drop());

  /** Tokens t1, t2 … of each tenant, with what hangs on them; the number is in every key. */
  async function fill(from: string): Promise<void> {
    const number = `decode(lpad(to_hex(n), 32, '0'), 'hex')`;
    const tie = `lpad(to_hex(n), 32, '0')::uuid`;
    await db.owner.query(
      `INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, terms, data_version, sealed, fingerprint)
       SELECT tenant, 't' || n, 'card', tenant, '2030-01-31Z', ${tie}, ${number}, 1, '\\x00', ${number} FROM ${from}`,
    );
    await db.owner.query(
      `INSERT INTO token_terms (tenant_id, term, created_at, tie) SELECT tenant, ${number}, '2030-01-31Z', ${tie} FROM ${from}`,
    );
    await db.owner.query(
      `INSERT INTO token_claims (tenant_id, type, fingerprint, token_id, scope)
       SELECT tenant, 'card', ${number}, 't' || n, ${tie} FROM ${from}`,
    );
    await db.owner.query(
      `INSERT INTO kept_tokens (tenant_id, answer, token) SELECT tenant, ${number}, ${tie} FROM ${from}`,
    );
    await db.owner.query(
      `INSERT INTO idempotency_keys (tenant_id, id, status, sealed, expires_at)
       SELECT tenant, ${number}, 201, '\\x00', '2030-02-01Z' FROM ${from}`,
    );
  }

  const numberOf = (place: number): string => ((place + 1) * 300).toString(16);
  const rows = Array.from({ length: CHANGED }, (_, place): TokenRow => {
    const number = Buffer.from(numberOf(place).padStart(32, '0'), 'hex');
    const hex = numberOf(place).padStart(32, '0');
    return {
      ...{ tenant_id: tenantId, id: `t${(place + 1) * 300}`, type: 'card', group_id: tenantId, created_by: null },
      ...{ created_at: new Date('2030-01-31T00:00:00Z'), modified_by: null, modified_at: new Date(), data_version: 1 },
      ...{ tie: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'), expires_at: null, cvc_expires_at: null },
      ...{ fingerprint: number, terms: number, sealed: Buffer.from('sealed') },
    };
  });

  const ties = rows.map(({ tie }) => tie);

  /** The plan of what the work sends, carried out and taken back; and how many rows it found to change. */
  async function read(work: (tx: TenantTx) => Promise<unknown>): Promise<{ read: number; changed: number }> {
    let sent: { text: string; values: readonly Value[] } | undefined;
    const run: TenantTx['run'] = async (statement, values) => {
      sent = { text: statement.text, values };
      return [];
    };
    // Nothing comes back, which some take for a row that somebody else has changed.
    await work({ kind: 'tenant', tenantId, lane: 0, run, gather: createGather(run) }).catch(() => {});
    assert.ok(sent);
    await db.owner.query('BEGIN');
    try {
      await db.owner.query(ENTER_SCOPE.text, ['strongroom_app', tenantId, '5000', '5000', '5000']);
      const { rows: found } = await db.owner.query<{ 'QUERY PLAN': [{ Plan: RanPlan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sent.text}`,
        [...sent.values],
      );
      const plan = found[0]?.['QUERY PLAN'][0].Plan;
      assert.ok(plan);
      const below = plan.Plans?.findLast((node) => node['Node Type'] !== 'Result');
      return { read: rowsRead(plan), changed: below?.['Actual Rows'] ?? 0 };
    } finally {
      await db.owner.query('ROLLBACK');
    }
  }

  for (const [what, changed, work] of [
    ['tokens that are deleted', CHANGED, (tx) => deleteTokens(tx, rows)],
    ['tokens that are changed', CHANGED, (tx) => Promise.all(rows.map((row) => updateToken(tx, row, row)))],
    ['their terms', CHANGED, (tx) => deleteTerms(tx, rows)],
    ['their claims', CHANGED, (tx) => Promise.all(rows.map((row) => releaseClaim(tx, row)))],
    ['what an import sets', CHANGED, (tx) => setModified(tx, rows)],
    ['what is sealed anew', CHANGED, (tx) => updateSealed(tx, rows)],
    [
      'answers that show none of them',
      0,
      (tx) =>
        emptyAnswersShowing(
          tx,
          rows.map(() => newId()),
        ),
    ],
    ['answers that show them', CHANGED, (tx) => emptyAnswersShowing(tx, ties)],
  ] as readonly (readonly [string, number, (tx: TenantTx) => Promise<unknown>])[]) {
    it(`${what}: only the rows themselves are read, of ${TOKENS}`, async () => {
      const found = await read(work);
      assert.equal(found.changed, changed);
      assert.ok(found.read <= READ_MAX, `${found.read} rows are read`);
    });
  }
});
