import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Principal } from '../../access/principal.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import type { Database } from '../../storage/database.js';
import { createDatabase } from '../../storage/database.js';
import { READ_IN_ORDER } from '../../storage/in-order.js';
import type { TenantTx } from '../../storage/scope.js';
import type { Value } from '../../storage/statement.js';
import { statement } from '../../storage/statement.js';
import { IS_CLUSTER } from '../../testing/cluster-only.js';
import type { ScanNode } from '../../testing/cluster-plan.js';
import { scansOfTask } from '../../testing/cluster-plan.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import { groupIdOf } from '../stored/names.js';
import { dataTerm, metadataTerm } from '../stored/terms.js';
import type { Filters } from './build.js';
import type { Page } from './list-queries.js';
import { countTokens, findTokens } from './list-queries.js';
import { parseQuery } from './parse.js';
import { resolveAsk } from './resolve.js';
import { PLAIN_PRINCIPAL, principalWith, readFingerprint, SEARCH_NOON_MS } from './search-fixture.js';

const TOKENS = 50_000;
const TINY_GROUPS = 200;
const PAGE = 21;
/** A page must not read more than this many rows, of any table, however many there are. */
const ROWS_MAX = 700;

interface PlanNode extends ScanNode {
  readonly Plans?: readonly PlanNode[];
}

const ruled = (...containers: string[]): Principal =>
  principalWith([
    {
      permissions: new Set(),
      rules: containers.map((container, n) => ({
        description: undefined,
        priority: n + 1,
        container,
        conditions: undefined,
        transform: 'mask',
        permissions: ['token:read'],
      })),
    },
  ]);

describe('what is read to find tokens among 50,000', () => {
  let app: TestApp;
  let tenantId: string;
  let keys: TenantKeys;
  /** The same tables with nothing in them: what a statement was planned on that was prepared on the first day. */
  let emptyDb: TestDatabase;
  let empty: Database;
  let isAnalyzed = false;

  before(async () => {
    emptyDb = await createTestDatabase();
    empty = createDatabase({
      target: emptyDb.target,
      isDistributed: emptyDb.isDistributed,
      clock: createFakeClock(SEARCH_NOON_MS),
    });
    app = await startTestApp({ clock: createFakeClock(SEARCH_NOON_MS) });
    tenantId = (await app.makeTenant()).id;
    keys = await app.keyStore.keyring.forTenant(tenantId);
    const neighbour = (await app.makeTenant()).id;
    await fill(tenantId, TOKENS);
    await fill(neighbour, 5_000);
  });
  after(async () => {
    await app.close();
    await empty.close();
    await emptyDb.drop();
  });

  /**
   * Three large groups, and 200 of one token each that are the oldest tokens there are. Every token has an index of its
   * own and the same metadata; a few share a rare term, a fingerprint or a creator.
   */
  async function fill(tenant: string, count: number): Promise<void> {
    const large = [
      ['card', '/pci/high/'],
      ['token', '/general/high/'],
      ['bank', '/bank/high/'],
    ] as const;
    const tiny = Array.from({ length: TINY_GROUPS }, (_, n) => ['token', `/tiny/${n}/`] as const);
    const groups = [...large, ...tiny];
    // All at once: the product's own sweep of what has expired must not find tokens whose groups are still missing.
    await app.db.owner.query('BEGIN');
    await app.db.owner.query(
      `WITH made AS (
         SELECT n, gen_random_uuid() AS id, to_timestamp($3::bigint / 1000 - n) AS created_at,
           CASE WHEN n > $2::int - $8::int THEN $2::int - n + 4 ELSE 1 + n % 3 END AS place,
           ARRAY[decode(md5('index ' || n), 'hex'), $6::bytea] ||
             CASE WHEN n % ($2::int / 5) = 7 THEN ARRAY[$7::bytea, $9::bytea] ELSE '{}' END AS terms
         FROM generate_series(1, $2::int) AS n),
       stored AS (
         INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, expires_at, fingerprint, terms, data_version, sealed)
         SELECT $1::uuid, CASE WHEN n % 1000 = 1 THEN 'alias-' || n ELSE id::text END, ($5::text[])[place],
           ($4::uuid[])[place], created_at, id, CASE WHEN n % 5000 = 3 THEN to_timestamp($3::bigint / 1000 - 1) END,
           sha256(convert_to((n / 2)::text, 'UTF8')), (SELECT string_agg(term, ''::bytea) FROM unnest(terms) AS term), 1, decode(repeat(md5(n::text), 20), 'hex')
         FROM made)
       INSERT INTO token_terms (tenant_id, term, created_at, tie)
       SELECT $1::uuid, term, created_at, id FROM made, unnest(terms) AS term`,
      [
        tenant,
        count,
        SEARCH_NOON_MS,
        groups.map(([type, container]) => groupIdOf(type, [container])),
        groups.map(([type]) => type),
        metadataTerm(keys, 'env', 'prod'),
        dataTerm(keys, 'rare'),
        TINY_GROUPS,
        metadataTerm(keys, 'rarely', 'yes'),
      ],
    );
    await app.db.owner.query(
      `INSERT INTO token_groups (tenant_id, group_id, slot, type, containers, count)
       SELECT tenant_id, group_id, 0, type, ARRAY[given.container], count(*)
       FROM tokens JOIN unnest($2::uuid[], $3::text[]) AS given (id, container) ON given.id = group_id
       WHERE tenant_id = $1 GROUP BY tenant_id, group_id, type, given.container`,
      [
        tenant,
        groups.map(([type, container]) => groupIdOf(type, [container])),
        groups.map(([, container]) => container),
      ],
    );
    await app.db.owner.query('COMMIT');
  }

  interface Ask {
    readonly principal?: Principal;
    readonly query?: string;
    readonly filters?: Filters;
    readonly page?: Partial<Page>;
    /** Also the exact number is told without reading much. */
    readonly withTotal?: boolean;
    readonly found?: number;
  }

  const deep = { after: { createdAtMs: SEARCH_NOON_MS - 40_000_000, tie: '80000000-0000-4000-8000-000000000000' } };
  const asks: Readonly<Record<string, Ask>> = {
    'the first page and the total of everything': { withTotal: true, found: TOKENS - 10 },
    'a page deep in everything': { page: deep },
    'a page of an index': { query: 'data:rare', withTotal: true, found: 5 },
    'a page of an index nobody has': { query: 'data:missing', withTotal: true, found: 0 },
    'a page of an index for a caller with rules': { query: 'data:rare', principal: ruled('/pci/'), withTotal: true },
    'a page of metadata every token has': { filters: { metadata: [['env', 'PROD']] } },
    'a page of metadata no token has': { filters: { metadata: [['env', 'test']] }, withTotal: true, found: 0 },
    'a deep page of metadata every token has': { filters: { metadata: [['env', 'prod']] }, page: deep },
    'a rare index among common metadata': { query: 'metadata.env:prod AND data:rare', withTotal: true, found: 5 },
    'rare metadata among common metadata': {
      query: 'metadata.env:prod AND metadata.rarely:yes',
      withTotal: true,
      found: 5,
    },
    'rare metadata in a list with common metadata': {
      filters: {
        metadata: [
          ['env', 'prod'],
          ['rarely', 'yes'],
        ],
      },
      withTotal: true,
      found: 5,
    },
    'common metadata for somebody who sees tiny groups': {
      principal: ruled('/tiny/'),
      query: 'metadata.env:prod',
      withTotal: true,
      found: TINY_GROUPS,
    },
    'one of two rare indexes': { query: 'data:rare OR data:other', withTotal: true, found: 5 },
    'an index or a fingerprint': { query: `data:rare OR fingerprint:${'0'.repeat(64)}`, withTotal: true, found: 5 },
    'a page and the total of containers': { principal: ruled('/pci/', '/bank/'), withTotal: true },
    'a deep page of containers': { principal: ruled('/pci/', '/bank/'), page: deep },
    'many tiny groups among the oldest tokens': { principal: ruled('/tiny/'), withTotal: true, found: TINY_GROUPS },
    'an index for somebody who sees tiny groups': { principal: ruled('/tiny/'), query: 'data:rare', withTotal: true },
    'everything but tiny groups': { query: 'NOT container:/tiny/*', withTotal: true, found: TOKENS - TINY_GROUPS - 10 },
    'a type': { filters: { types: ['bank'] }, withTotal: true },
    'a type nobody has': { filters: { types: ['card_number'] }, withTotal: true, found: 0 },
    ids: { filters: { ids: ['alias-1', 'alias-40001', 'missing'] }, withTotal: true, found: 2 },
    'ids for a caller with rules': { filters: { ids: ['alias-1', 'alias-40001'] }, principal: ruled('/pci/') },
    'a fingerprint': {
      filters: { fingerprint: createHash('sha256').update('10000').digest('hex') },
      withTotal: true,
      found: 2,
    },
    'a day': { query: 'created_at:2030-01-15 AND type:card', page: deep },
    'an hour long ago': {
      query: 'created_at:[2030-01-15T00:00:00Z TO 2030-01-15T00:05:00Z}',
      withTotal: true,
      found: 300,
    },
    'an index within an hour': { query: 'data:rare AND created_at:[2030-01-15T00:00:00Z TO *]', withTotal: true },
  };

  for (const state of ['unknown', 'analyzed']) {
    describe(`in tables whose contents are ${state}`, () => {
      before(async () => {
        isAnalyzed = state === 'analyzed';
        if (isAnalyzed) await app.db.owner.query('ANALYZE tokens, token_terms, token_groups');
      });
      for (const [name, ask] of Object.entries(asks)) {
        it(`is little for ${name}`, () => check(name, ask));
      }
    });
  }

  async function check(name: string, ask: Ask): Promise<void> {
    const { principal = PLAIN_PRINCIPAL, query = '', filters = {}, page = {}, withTotal = false, found } = ask;
    await app.database.read(tenantId, async (tx) => {
      const words = {
        keys,
        includesChildren: false,
        readFingerprint,
        least: { fingerprint: 'mask', data: 'mask' } as const,
      };
      const given = { principal, query: parseQuery(query), filters, permission: 'token:read' as const };
      const search = { ...(await resolveAsk(tx, { ...words, ...given })), nowMs: SEARCH_NOON_MS };
      const rows = await findTokens(tx, { ...search, limit: PAGE, ...page });
      assert.ok(rows.every((row) => row.tenant_id === tenantId));
      await assertLittle(tx, name, (spy) => findTokens(spy, { ...search, limit: PAGE, ...page }));
      if (!withTotal) return;
      const total = await countTokens(tx, search);
      if (found !== undefined) assert.equal(total, found);
      assert.equal(rows.length, Math.min(total, PAGE));
      await assertLittle(tx, `the total of ${name}`, (spy) => countTokens(spy, search));
    });
  }

  async function assertLittle(tx: TenantTx, name: string, work: (tx: TenantTx) => Promise<unknown>): Promise<void> {
    const plans = await explained(tx, work);
    const scans = plans.flatMap(nodesOf).filter((node) => node['Relation Name'] !== undefined);
    const read = scans.reduce(
      (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    );
    assert.ok(read <= ROWS_MAX, `${name}: ${read} rows were read\n${JSON.stringify(plans, null, 1)}`);
    if (!isAnalyzed) return;
    const early = await empty.read(tenantId, (emptyTx) => explained(emptyTx, work));
    assert.deepEqual(indexesOf(early), indexesOf(plans), `${name}, planned while there was nothing`);
  }

  /** How the server runs the statements of `work`, by the plan that serves any values. */
  async function explained(tx: TenantTx, work: (tx: TenantTx) => Promise<unknown>): Promise<PlanNode[]> {
    const plans: PlanNode[] = [];
    const explain = async (text: string, values: readonly Value[]): Promise<void> => {
      const run = <Row>(sql: string) => tx.run(statement<Row>('', sql), []);
      const execute = `EXECUTE explained (${values.map(literalOf).join(', ')})`;
      await run(`PREPARE explained AS ${text}`);
      if (IS_CLUSTER) plans.push(...scansOfTask(await run(`EXPLAIN (ANALYZE) ${execute}`)));
      else {
        const rows = await run<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${execute}`);
        plans.push(...rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan)));
      }
      await run('DEALLOCATE explained');
    };
    await tx.run(READ_IN_ORDER, []);
    await work({
      ...tx,
      async run(asked, values) {
        if (asked !== READ_IN_ORDER) await explain(IS_CLUSTER ? (asked.distributed ?? asked.text) : asked.text, values);
        return [];
      },
    });
    return plans;
  }

  function indexesOf(plans: readonly PlanNode[]): string[] {
    const names = plans.flatMap(nodesOf).flatMap((node) => node['Index Name'] ?? []);
    // How the few rows of the directory are found makes no difference.
    return [...new Set(names)].filter((name) => !name.startsWith('token_groups')).sort();
  }

  function literalOf(value: Value): string {
    if (Array.isArray(value)) return `'{${value.map((each) => JSON.stringify(each)).join(',')}}'`;
    if (Buffer.isBuffer(value)) return isUuidArray(value) ? uuidsIn(value) : `'\\x${value.toString('hex')}'`;
    return value instanceof Date ? `'${value.toISOString()}'` : `'${value}'`;
  }

  function nodesOf(node: PlanNode): PlanNode[] {
    return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  }
});

/** As the statements send lists of groups: one dimension, of the type whose number is 2950. */
function isUuidArray(value: Buffer): boolean {
  return value.length >= 20 && value.readInt32BE(0) === 1 && value.readInt32BE(8) === 2_950;
}

function uuidsIn(value: Buffer): string {
  const hex = Array.from({ length: value.readInt32BE(12) }, (_, n) => value.toString('hex', 24 + n * 20, 40 + n * 20));
  return `'{${hex.join(',')}}'`;
}
