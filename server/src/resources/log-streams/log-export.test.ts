import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MEMBER_ROLES } from '../../access/roles.js';
import { newId } from '../../kernel/ids.js';
import { eventually } from '../../testing/eventually.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from '../portal/portal-fixture.js';
import { makePerson, openBrowser } from '../portal/portal-fixture.js';
import { openStreamAs } from './stream-client-fixture.js';

const COUNT = 2_500;
const HOUR_MS = 3_600_000;
const NOT_EXPORTED = '0';

describe('a download of the log', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let person: Person;
  before(async () => {
    // Ahead, so that what is older by minutes has its month whatever day it is.
    clock = createFakeClock(Date.now() + HOUR_MS);
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ünder & "Söns" Ltd.');
    person = await makePerson(app, tenant.id, 'READ_ONLY');
    await fill(tenant.id, 'row', COUNT);
  });
  after(() => app.close());

  async function fill(tenantId: string, entityType: string, count: number): Promise<void> {
    await app.db.owner.query(
      `INSERT INTO logs (tenant_id, created_at, id, entity_type, entity_id, operation, message, outcome)
       SELECT $1, $2::timestamptz - (n / 3 + 1) * interval '10 ms', gen_random_uuid(), $4, n::text, 'read', 'Token retrieved', 'success'
       FROM generate_series(1, $3) AS n`,
      [tenantId, new Date(clock.nowMs()), count, entityType],
    );
  }

  const day = () => new Date(clock.nowMs()).toISOString().slice(0, 10);
  const pathOf = (query: string, of = tenant.id) => `/portal/api/tenants/${of}/logs/export${query}`;
  const download = (query: string, by = person) => by.browser.call('GET', pathOf(query));

  async function linesOf(query: string) {
    const stream = await openStreamAs(app, person.browser, pathOf(query));
    await stream.until('it is whole', (one) => one.isOver());
    assert.deepEqual([stream.response.statusCode, stream.response.complete], [200, true]);
    assert.equal(stream.response.headers['content-type'], 'application/x-ndjson');
    return stream
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  async function exportsLogged(of = tenant.id): Promise<string> {
    const found = await app.db.owner.query(
      `SELECT count(*) FROM logs WHERE tenant_id = $1 AND message = 'Logs exported'`,
      [of],
    );
    return found.rows[0].count;
  }

  it('has every entry once, newest first, as lines of JSON with everything that GET /logs has', async () => {
    const lines = await linesOf('?format=ndjson&entity_type=row');
    assert.equal(lines.length, COUNT);
    assert.equal(new Set(lines.map(({ entity_id }) => entity_id)).size, COUNT);
    const dates = lines.map(({ created_at }) => created_at);
    assert.deepEqual(dates, [...dates].sort().reverse());
    const { json } = await app.call('GET', '/logs?entity_type=row&include=details&size=1000', { key: tenant.key });
    assert.deepEqual(lines.slice(0, 1000), json.data);
  });

  it('has every entry without a filter, its own among them', async () => {
    const lines = await linesOf('?format=ndjson');
    assert.ok(lines.length > COUNT);
    assert.ok(lines.some(({ message }) => message === 'Logs exported'));
  });

  it('is a file named after the tenant and the day', async () => {
    for (const format of ['csv', 'ndjson']) {
      const { headers } = await download(`?format=${format}&entity_type=none`);
      assert.equal(headers.get('content-disposition'), `attachment; filename="logs-nder-s-ns-ltd-${day()}.${format}"`);
    }
    const of = await app.makeTenant('名前');
    const owner = await makePerson(app, of.id, 'OWNER');
    const { headers } = await owner.browser.call('GET', pathOf('?format=csv', of.id));
    assert.equal(headers.get('content-disposition'), `attachment; filename="logs-${of.id}-${day()}.csv"`);
  });

  it('is narrowed by each filter of GET /logs', async () => {
    const line = { entity_id: '7', entity_type: 'row', operation: 'read', outcome: 'success' };
    for (const [name, value] of Object.entries(line)) {
      const { text } = await download(
        `?format=ndjson&entity_type=row&entity_id=7${name.startsWith('entity') ? '' : `&${name}=${value}`}`,
      );
      assert.equal(JSON.parse(text).entity_id, '7', name);
    }
    assert.equal((await download(`?format=ndjson&actor_id=nobody`)).text, '');
    assert.equal((await download(`?format=ndjson&actor_id=${newId()}`)).text, '');
    assert.equal((await download('?format=ndjson&end_date=2000-01-01')).text, '');
  });

  it('as CSV quotes every cell, and turns none into a formula', async () => {
    const evil = ['=1+1', '+1', '-1', '@a', '\tx', '\rx', '＝1', 'a"b,c\r\nd'];
    for (const id of evil) {
      await app.db.owner.query(
        `INSERT INTO logs (tenant_id, created_at, id, entity_type, entity_id, operation, message, outcome)
         VALUES ($1, $2, gen_random_uuid(), 'evil', $3, 'read', 'm', 'success')`,
        [tenant.id, new Date(clock.nowMs()), id],
      );
      const { text } = await download(`?format=csv&entity_type=evil&entity_id=${encodeURIComponent(id)}`);
      const [head = '', ...rest] = text.split('\r\n');
      assert.equal(head.split(',')[5], '"entity_id"');
      const shown = `"${id.startsWith('a') ? '' : "'"}${id.replaceAll('"', '""')}"`;
      assert.ok(rest.join('\r\n').includes(`,${shown},`), JSON.stringify(text));
      assert.ok(text.endsWith('"\r\n'));
    }
  });

  for (const role of MEMBER_ROLES) {
    it(`is in the log before its first byte, by the user: ${role}`, async () => {
      const member = await makePerson(app, tenant.id, role);
      assert.equal((await download('?format=csv&entity_type=none', member)).status, 200);
      const { json } = await app.call('GET', `/logs?actor_id=${member.userId}&operation=read&include=details`, {
        key: tenant.key,
      });
      const { entity_type: type, entity_id: id, message, outcome, actor_type: actor } = json.data[0];
      assert.deepEqual([type, id, message, outcome, actor], ['tenant', tenant.id, 'Logs exported', 'success', 'user']);
    });
  }

  it('503 and not a byte where its entry cannot be written', async () => {
    await app.db.owner.query('REVOKE INSERT ON logs FROM strongroom_app');
    try {
      const { status, text } = await download('?format=ndjson&entity_type=row');
      assert.equal(status, 503);
      assert.equal(text.includes('entity_id'), false);
    } finally {
      await app.db.owner.query('GRANT INSERT ON logs TO strongroom_app');
    }
  });

  it('another site cannot have one made: 403, and the log has no entry', async () => {
    const before = await exportsLogged();
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
    ]) {
      const stream = await openStreamAs(app, person.browser, pathOf('?format=csv'), headers);
      assert.equal(stream.response.statusCode, 403);
    }
    assert.equal(await exportsLogged(), before);
    for (const site of ['same-origin', 'none']) {
      const stream = await openStreamAs(app, person.browser, pathOf('?format=csv&entity_type=none'), {
        'Sec-Fetch-Site': site,
      });
      assert.equal(stream.response.statusCode, 200);
    }
  });

  it('400 without a format and for an unknown one, 404 in another tenant, 401 for nobody and for a key; none is logged', async () => {
    const other = await app.makeTenant();
    for (const query of ['', '?format=xlsx', '?format=csv&start_date=never'])
      assert.equal((await download(query)).status, 400);
    assert.equal((await person.browser.call('GET', pathOf('?format=csv', other.id))).status, 404);
    assert.equal((await openBrowser(app).call('GET', pathOf('?format=csv'))).status, 401);
    const key = { 'SVC-API-KEY': tenant.key };
    assert.equal((await openBrowser(app).call('GET', pathOf('?format=csv'), undefined, key)).status, 401);
    assert.equal(await exportsLogged(other.id), NOT_EXPORTED);
  });

  it('reads on no further when the client has left, and its place is free', async () => {
    const of = await app.makeTenant();
    const owner = await makePerson(app, of.id, 'OWNER');
    await fill(of.id, 'row', 60_000);
    const path = pathOf('?format=ndjson', of.id);
    const reading = [await openStreamAs(app, owner.browser, path), await openStreamAs(app, owner.browser, path)];
    for (const { response } of reading) response.pause();
    const refused = await owner.browser.call('GET', path);
    assert.deepEqual([refused.status, refused.json.code], [503, 'overloaded']);
    assert.match(refused.json.detail, /You have 2 downloads of the log open already/);
    for (const stream of reading) stream.close();
    await eventually('there is room again', async () => {
      const stream = await openStreamAs(app, owner.browser, path);
      stream.close();
      return stream.response.statusCode === 200;
    });
  });

  it('breaks off where the session ended meanwhile, so that nobody takes a part for the whole', async () => {
    const of = await app.makeTenant();
    const owner = await makePerson(app, of.id, 'OWNER');
    await fill(of.id, 'row', 60_000);
    const stream = await openStreamAs(app, owner.browser, pathOf('?format=ndjson', of.id));
    stream.response.pause();
    await owner.browser.call('POST', '/portal/api/sign-out');
    clock.advance(1_000);
    stream.response.resume();
    await stream.until('it is over', (one) => one.isOver());
    assert.equal(stream.response.complete, false);
    assert.ok(stream.text().split('\n').length < 60_000);
  });
});
