import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../kernel/ids.js';
import type { TenantTx } from '../../storage/scope.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { planNodesOf } from '../definitions/plan-fixture.js';
import { FREE_PAGE_BYTES } from '../definitions/queries.js';
import { PROXY_FIGURES } from './figures/queries.js';
import { PROXY_ROWS } from './queries.js';
import { PROXY_VERSIONS } from './versions/queries.js';

const ROWS = 20_000;
const NAMES = 200;
const PAGE = { limit: 20, offset: 0, bytesMax: FREE_PAGE_BYTES };
const MEBIBYTE = 1_048_576;

describe('lists of Proxies among 20,000', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let one: string;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    const { rows } = await app.db.owner.query(
      `INSERT INTO proxies (tenant_id, id, name, key_hash, version, sealed, created_at)
       SELECT $1, gen_random_uuid(), 'name ' || n % $3::int, sha256(n::text::bytea), 2, '\\x00',
         now() - n * interval '1 second'
       FROM generate_series(1, $2::int) n RETURNING id`,
      [tenant.id, ROWS, NAMES],
    );
    one = rows[0].id;
    await app.db.owner.query(
      `INSERT INTO proxy_versions (tenant_id, proxy_id, version, sealed, created_at)
       SELECT $1, id, 1, '\\x00', now() FROM proxies WHERE tenant_id = $1`,
      [tenant.id],
    );
    await app.db.owner.query(
      `INSERT INTO proxy_figures (tenant_id, proxy_id, day, figure, count)
       SELECT $1, id, CURRENT_DATE, 'calls', 1 FROM proxies WHERE tenant_id = $1`,
      [tenant.id],
    );
  });
  after(() => app.close());

  const ids = undefined;
  const cases: readonly (readonly [string, number, (tx: TenantTx) => Promise<unknown>])[] = [
    ['the first page', PAGE.limit, (tx) => PROXY_ROWS.list(tx, { ids }, PAGE)],
    ['a page by name', ROWS / NAMES, (tx) => PROXY_ROWS.list(tx, { ids, name: 'name 7' }, PAGE)],
    ['how many have a name', ROWS / NAMES, (tx) => PROXY_ROWS.count(tx, { ids, name: 'name 7' })],
    ['a page by ids', 2, (tx) => PROXY_ROWS.list(tx, { ids: [one, newId()] }, PAGE)],
    ['versions', 1, (tx) => PROXY_VERSIONS.list(tx, one, FREE_PAGE_BYTES)],
    ['figures', 1, (tx) => PROXY_FIGURES.list(tx, one, 0)],
  ];

  for (const isAnalyzed of [false, true]) {
    for (const [name, rowsMax, ask] of cases) {
      it(`${name}: reads what is shown and no table as a whole, ${isAnalyzed ? 'with' : 'without'} statistics`, async () => {
        if (isAnalyzed) await app.db.owner.query('ANALYZE proxies, proxy_versions, proxy_figures');
        const nodes = await app.database.read(tenant.id, (tx) => planNodesOf(tx, ask));
        const scans = nodes.filter((node) => node['Relation Name'] !== undefined);
        assert.ok(scans.length > 0);
        for (const node of scans) {
          const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
          assert.notEqual(node['Node Type'], 'Seq Scan');
          assert.ok(read <= rowsMax, `${node['Node Type']}: ${read} rows`);
        }
      });
    }
  }
});

describe('pages of large Proxies', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const call = (method: string, path: string, body?: object) =>
    app.call(method, path, { key: tenant.key, ...(body && { body }) });
  const held = (): number => Number(/^strongroom_large_bytes_held (\d+)$/m.exec(app.metrics.render())?.[1]);
  /** Of about a megabyte. */
  const configuration = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`K${n}`, 'x'.repeat(50_000)]));

  it('are whole, take room while they are answered, and give it back', async () => {
    for (const name of ['a', 'b', 'c']) {
      const made = await call('POST', '/proxies', { name, destination_url: 'https://a.example', configuration });
      assert.equal(made.status, 201);
    }
    const asked = Array.from({ length: 12 }, () => call('GET', '/proxies'));
    await eventually('room is taken', () => held() > MEBIBYTE);
    for (const { status, json } of await Promise.all(asked)) {
      assert.ok(status === 200 || status === 503, String(status));
      if (status === 200) assert.deepEqual(json.data[2].configuration, configuration);
    }
    await eventually('it is given back', () => held() === 0);
    assert.equal((await call('GET', '/proxies')).json.data.length, 3);
  });
});
