// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../kernel/ids.js';
import type { TenantTx } from '../../storage/scope.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { planNodesOf } from '../definitions/plan-fixture.js';
import { FREE_PAGE_BYTES } from '../definitions/queries.js';
import { listReactorFigures } from './figures/queries.js';
import type { ReactorFilter } from './queries.js';
import { countReactors, listReactors } from './queries.js';
import { listReactorVersions } from './versions/queries.js';

const ROWS = 100_000;
const NAMES = 1_000;
const PAGE = { limit: 20, offset: 0, bytesMax: FREE_PAGE_BYTES };
const MEBIBYTE = 1_048_576;

describe('lists of Reactors among 100,000', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let one: string;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    const { rows } = await app.db.owner.query(
      `INSERT INTO reactors (tenant_id, id, name, version, sealed, created_at)
       SELECT $1, gen_random_uuid(), 'name ' || n % $3::int, 2, '\\x00', now() - n * interval '1 second'
       FROM generate_series(1, $2::int) n RETURNING id`,
      [tenant.id, ROWS, NAMES],
    );
    one = rows[0].id;
    await app.db.owner.query(
      `INSERT INTO reactor_versions (tenant_id, reactor_id, version, sealed, created_at)
       SELECT $1, id, 1, '\\x00', now() FROM reactors WHERE tenant_id = $1`,
      [tenant.id],
    );
    await app.db.owner.query(
      `INSERT INTO reactor_figures (tenant_id, reactor_id, day, figure, count)
       SELECT $1, id, CURRENT_DATE, 'calls', 1 FROM reactors WHERE tenant_id = $1`,
      [tenant.id],
    );
  });
  after(() => app.close());

  const none: ReactorFilter = { ids: undefined };
  const cases: readonly (readonly [string, number, (tx: TenantTx) => Promise<unknown>])[] = [
    ['the first page', PAGE.limit, (tx) => listReactors(tx, none, PAGE)],
    ['a page by name', ROWS / NAMES, (tx) => listReactors(tx, { ids: undefined, name: 'name 7' }, PAGE)],
    ['how many have a name', ROWS / NAMES, (tx) => countReactors(tx, { ids: undefined, name: 'name 7' })],
    ['a page by ids', 2, (tx) => listReactors(tx, { ids: [one, newId()] }, PAGE)],
    ['versions', 1, (tx) => listReactorVersions(tx, one, FREE_PAGE_BYTES)],
    ['figures', 1, (tx) => listReactorFigures(tx, one, 0)],
  ];

  for (const isAnalyzed of [false, true]) {
    for (const [name, rowsMax, ask] of cases) {
      it(`${name}: reads what is shown and no table as a whole, ${isAnalyzed ? 'with' : 'without'} statistics`, async () => {
        if (isAnalyzed) await app.db.owner.query('ANALYZE reactors, reactor_versions, reactor_figures');
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

describe('pages of large Reactors', () => {
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
  const configuration = (letter: string) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`K${n}`, letter.repeat(50_000)]));

  it('are whole and in order, and what they hold is given back once the answer is out', async () => {
    const ids: string[] = [];
    for (const letter of ['a', 'b', 'c']) {
      const made = await call('POST', '/reactors', {
        name: letter,
        code: letter,
        configuration: configuration(letter),
      });
      assert.equal(made.status, 201);
      ids.unshift(made.json.id);
    }
    ids.unshift((await call('POST', '/reactors', { name: 'small', code: 'small' })).json.id);
    const { json } = await call('GET', '/reactors');
    assert.deepEqual(
      json.data.map(({ id, code }: { id: string; code: string }) => [id, code]),
      ids.map((id, n) => [id, ['small', 'c', 'b', 'a'][n]]),
    );
    assert.deepEqual(json.data[1].configuration, configuration('c'));
    const [large = ''] = ids.slice(-1);
    for (const code of ['two', 'three'])
      assert.equal((await call('PATCH', `/reactors/${large}`, { code })).status, 204);
    const versions = await call('GET', `/reactors/${large}/versions`);
    assert.deepEqual(
      versions.json.map(({ code }: { code: string }) => code),
      ['two', 'a'],
    );
    await eventually('it is given back', () => held() === 0);
  });

  it('many at once are answered or 503, and never without room', async () => {
    const asked = Array.from({ length: 40 }, () => call('GET', '/reactors?size=100'));
    await eventually('room is taken', () => held() > MEBIBYTE);
    const pages = await Promise.all(asked);
    const statuses = new Set(pages.map(({ status }) => status));
    assert.ok(
      statuses.has(200) && [...statuses].every((status) => status === 200 || status === 503),
      [...statuses].join(),
    );
    assert.equal((await call('GET', '/reactors')).status, 200);
  });

  it('are answered while others change and make large Reactors', async () => {
    const [first] = (await call('GET', '/reactors?size=1')).json.data;
    // Fewer bytes together than a tenant may have under way: more could well be refused.
    const changes = Array.from({ length: 6 }, (_, n) =>
      n % 2 === 0
        ? call('POST', '/reactors', { name: `more ${n}`, code: 'x', configuration: configuration('m') })
        : call('PATCH', `/reactors/${first.id}`, { configuration: configuration(String(n % 10)) }),
    );
    for (let page = 0; page < 12; page += 1) assert.equal((await call('GET', '/reactors?size=3')).status, 200);
    for (const { status } of await Promise.all(changes)) assert.ok(status < 300, String(status));
  });
});
