import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../../kernel/ids.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import { DAYS_SHOWN } from '../../definitions/figures/figure-calls.js';
import { dayOf } from '../../definitions/figures/figure-names.js';
import { PROXY_FIGURES } from './queries.js';
import { createProxyFigures, sweepProxyFigures, writeProxyFigures } from './service.js';

const NOON_MS = Date.UTC(2030, 0, 31, 12);
const TODAY = dayOf(NOON_MS);
const MADE = { name: 'P', destination_url: 'https://a.example' };

describe('GET /proxies/{id}/metrics', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(NOON_MS) });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const make = async (): Promise<string> =>
    (await app.call('POST', '/proxies', { key: tenant.key, body: MADE })).json.id;
  const metrics = (id: string, key = tenant.key) => app.call('GET', `/proxies/${id}/metrics`, { key });
  const count = (definitionId: string, day: number, figures: Readonly<Record<string, number>>) =>
    app.database.write(tenant.id, (tx) =>
      PROXY_FIGURES.add(
        tx,
        Object.entries(figures).map(([figure, n]) => ({ tenantId: tenant.id, definitionId, day, figure, count: n })),
      ),
    );

  it('200 with thirty days and nothing in them for a Proxy that was never called', async () => {
    const { status, json } = await metrics(await make());
    assert.deepEqual(
      [status, json.total, json.days.length],
      [200, { calls: 0, errors: {}, cold_starts: 0 }, DAYS_SHOWN],
    );
    assert.deepEqual([json.days[0].date, json.days.at(-1).date], ['2030-01-31', '2030-01-02']);
  });

  it('adds up the days of the window, shows the failures of Proxies alone; the job removes what is older', async () => {
    const id = await make();
    await count(id, TODAY, { calls: 3, cold: 1, 'ms:4': 2, 'error:destination_timeout': 1, 'error:made_up': 1 });
    await count(id, TODAY - 29, { calls: 2 });
    await count(id, TODAY - 30, { calls: 5 });
    const { json } = await metrics(id);
    assert.deepEqual([json.total.calls, json.total.errors, json.total.cold_starts], [5, { destination_timeout: 1 }, 1]);
    assert.equal(await sweepProxyFigures(app.database, NOON_MS), 1);
    assert.equal(await sweepProxyFigures(app.database, NOON_MS), 0);
    assert.equal((await metrics(id)).json.total.calls, 5);
  });

  it('counts what a process noted, once it has written it', async () => {
    const id = await make();
    const figures = createProxyFigures({
      clock: createFakeClock(NOON_MS),
      write: (growth) => writeProxyFigures(app.database, growth),
      onFault: (error) => assert.fail(String(error)),
    });
    const run = { tenantId: tenant.id, definitionId: id, durationMs: 2, isCold: false };
    figures.note({ ...run, failure: undefined });
    figures.note({ ...run, failure: 'refused' });
    await figures.close();
    const { json } = await metrics(id);
    assert.deepEqual([json.total.calls, json.total.errors], [2, { refused: 1 }]);
  });

  it('404 for a neighbour, for what is no id, and once the Proxy is deleted; its rows are gone with it', async () => {
    const id = await make();
    await count(id, TODAY, { calls: 1 });
    const neighbour = await app.makeTenant();
    const answers = [await metrics(id, neighbour.key), await metrics(newId()), await metrics('no-id')];
    for (const { status, json } of answers) assert.deepEqual([status, json.code], [404, 'not_found']);
    assert.equal((await app.call('DELETE', `/proxies/${id}`, { key: tenant.key })).status, 204);
    await count(id, TODAY, { calls: 1 });
    const { rows } = await app.db.owner.query('SELECT 1 FROM proxy_figures WHERE proxy_id = $1', [id]);
    assert.deepEqual(rows, []);
  });
});
