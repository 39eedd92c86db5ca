// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ENTITY_TYPE_VALUES } from '../../../audit/entity-types.js';
import { KIND_BITS, KIND_NUMBER } from '../../../audit/kind.js';
import { newId } from '../../../kernel/ids.js';
import { SLICES } from '../../../resources.js';
import { statement } from '../../../storage/statement.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { FilteredLog } from './log-fixture.js';
import { openLog } from './log-fixture.js';
import type { PlannedDatabase } from './plan-fixture.js';
import { SERVERS } from './plan-fixture.js';

const NOON_MS = Date.UTC(2030, 0, 15, 12);
const OUTCOMES = ['success', 'failure', 'denied'];
/** Everything that is written, and words that may come. */
const TYPES = [...ENTITY_TYPE_VALUES, 'webhook', 'three_ds_session', 'event', 'role', 'policy', 'report', 'document'];
const OPERATIONS = [
  ...new Set(SLICES.flatMap(({ events }) => events).map(({ operation }) => operation)),
  ...['invoke', 'export', 'import', 'invite', 'remove', 'rotate', 'suspend', 'restore', 'login', 'list'],
];

/** What is stored for ever. A server that says otherwise would not find what another wrote. */
const FIXED = [
  { entity_type: 'card', operation: 'read', outcome: 'success', kind: '8265695482323127017' },
  { entity_type: 'tenant', operation: 'update', outcome: 'denied', kind: '7119436294508482633' },
  { entity_type: 'social_security_number', operation: 'key_create', outcome: 'failure', kind: '4309958649855497091' },
];

for (const { name, skip, open } of SERVERS) {
  describe(`the number of a kind on ${name}`, { skip }, () => {
    let planned: PlannedDatabase;
    before(async () => {
      planned = await open(NOON_MS);
    });
    after(() => planned.close());

    const numbersOf = (from: string) =>
      planned.database.read(newId(), (tx) =>
        tx.run(
          statement<{ entity_type: string; operation: string; outcome: string; kind: string }>(
            '',
            `SELECT entity_type, operation, outcome, ${KIND_NUMBER}::text AS kind FROM ${from}`,
          ),
          [],
        ),
      );
    const listed = (words: readonly string[], column: string) =>
      `unnest('{${words.join(',')}}'::text[]) AS ${column} (${column})`;

    it('is of no other kind that is written or may be, and never 0, which is no number', async () => {
      const kinds = await numbersOf(
        `${listed(TYPES, 'entity_type')}, ${listed(OPERATIONS, 'operation')}, ${listed(OUTCOMES, 'outcome')}`,
      );
      assert.equal(kinds.length, TYPES.length * OPERATIONS.length * OUTCOMES.length);
      const numbers = new Set(kinds.map(({ kind }) => BigInt(kind)));
      assert.equal(numbers.size, kinds.length);
      assert.ok([...numbers].every((number) => number > 0n));
      for (const [part, words] of [
        ['entity_type', TYPES],
        ['operation', OPERATIONS],
        ['outcome', OUTCOMES],
      ] as const) {
        const { shift, mask } = KIND_BITS[part];
        const bits = new Set([...numbers].map((number) => (number >> BigInt(shift)) & BigInt(mask)));
        assert.equal(bits.size, words.length, `two of ${words} share their bits`);
      }
    });

    it('is the one that is stored', async () => {
      const values = FIXED.map((kind) => `('${kind.entity_type}', '${kind.operation}', '${kind.outcome}')`);
      const rows = await numbersOf(`(VALUES ${values.join(', ')}) AS given (entity_type, operation, outcome)`);
      assert.deepEqual(rows, FIXED);
    });
  });
}

describe('entries and the numbers of their kinds', () => {
  let app: TestApp;
  let log: FilteredLog;
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(NOON_MS) });
    log = await openLog(app);
  });
  after(() => app.close());

  const entries = (type: string, count: number, ageSeconds: number) =>
    log.write(
      `SELECT $1::timestamptz - n * interval '1 second' AS created_at, $2::uuid AS actor_id, 'one' AS entity_id,
         $3 AS entity_type, 'read' AS operation, 'success' AS outcome FROM generate_series(1, $4::int) AS n`,
      [new Date(NOON_MS - ageSeconds * 1_000), log.tenant.id, type, count],
    );

  it('are written with them', async () => {
    const tenant = await app.makeTenant();
    const { status } = await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'Renamed' } });
    assert.equal(status, 200);
    const { rows } = await app.db.owner.query<{ is_numbered: boolean }>(
      `SELECT kind = ${KIND_NUMBER} AS is_numbered FROM logs WHERE tenant_id = $1`,
      [tenant.id],
    );
    assert.ok(rows.length > 0);
    assert.ok(rows.every((row) => row.is_numbered));
  });

  it('200 with exactly those of the type asked for where another shares its bits, however many come before', async () => {
    const [one = '', other = ''] = await typesThatShareBits();
    const oldest = await entries(one, 30, 10_000);
    assert.deepEqual([await log.walk(`entity_type=${one}`, 7), (await total(one)).total], [oldest, 30]);
    // Asked for and never written: its number leads to the entries of the other.
    assert.deepEqual([await log.walk(`entity_type=${other}`, 7), (await total(other)).total], [[], 0]);
    const newest = await entries(other, 300, 0);
    assert.deepEqual(await log.walk(`entity_type=${one}`, 7), oldest);
    assert.deepEqual(await log.walk(`entity_type=${other}&entity_id=one&operation=read`, 70), newest);
  });

  it('200 with entries of a release before, which gave them none, among the others', async () => {
    const numbered = await entries('reactor', 50, 0);
    const { rows } = await app.db.owner.query<{ id: string }>(
      `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome)
       SELECT tenant_id, created_at, gen_random_uuid(), actor_type, actor_id, entity_type, entity_id, operation, message, outcome
       FROM logs WHERE id = ANY ($1) RETURNING id`,
      [numbered],
    );
    const all = await app.db.owner.query<{ id: string; kind: string }>(
      `SELECT id, kind FROM logs WHERE tenant_id = $1 AND entity_type = 'reactor' ORDER BY created_at DESC, id DESC`,
      [log.tenant.id],
    );
    assert.deepEqual([rows.length, all.rows.filter(({ kind }) => kind === '0').length], [50, 50]);
    const expected = all.rows.map(({ id }) => id);
    for (const filter of [
      'entity_type=reactor',
      'entity_type=reactor&entity_id=one',
      `entity_type=reactor&operation=read&actor_id=${log.tenant.id}`,
    ]) {
      assert.deepEqual(await log.walk(filter, 9), expected, filter);
      const { ids, total: items } = await log.page(`${filter}&page=4&size=9`);
      assert.deepEqual([ids, items], [expected.slice(27, 36), 100], filter);
    }
  });

  const total = (type: string) => log.page(`page=1&entity_type=${type}`);

  async function typesThatShareBits(): Promise<string[]> {
    const { rows } = await app.db.owner.query<{ types: string[] }>(
      `SELECT array_agg(type) AS types FROM (SELECT 'type-' || n AS type FROM generate_series(1, 40000) AS n) AS made
       GROUP BY hashtext(type) & ${KIND_BITS.entity_type.mask} HAVING count(*) > 1 LIMIT 1`,
    );
    return rows[0]?.types ?? [];
  }
});
