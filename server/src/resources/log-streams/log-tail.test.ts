// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId, newOrderedId } from '../../kernel/ids.js';
import { connectAs } from '../../testing/empty-database.js';
import { eventually } from '../../testing/eventually.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';
import type { Person } from '../portal/portal-fixture.js';
import { makePerson, openBrowser } from '../portal/portal-fixture.js';
import type { OpenStream } from './stream-client-fixture.js';
import { openStreamAs } from './stream-client-fixture.js';

const MINUTE_MS = 60_000;

describe('the tail of the log', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let person: Person;
  const opened: OpenStream[] = [];
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
    person = await makePerson(app, tenant.id, 'READ_ONLY');
  });
  after(async () => {
    for (const stream of opened) stream.close();
    await app.close();
  });

  const pathOf = (query = '', of = tenant.id) => `/portal/api/tenants/${of}/logs/tail${query}`;

  async function follow(query = '', headers = {}, by = person, at: TestApp = app): Promise<OpenStream> {
    const stream = await openStreamAs(at, by.browser, pathOf(query), headers);
    opened.push(stream);
    assert.equal(stream.response.statusCode, 200);
    await stream.until('it is open', (one) => one.events().length > 0);
    return stream;
  }

  /** Each a moment later than the one before. */
  async function write(entityId: string, agoMs = 0, query = app.db.owner.query.bind(app.db.owner)) {
    clock.advance(1);
    const atMs = clock.nowMs() - agoMs;
    await query(
      `INSERT INTO logs (tenant_id, created_at, id, entity_type, entity_id, operation, message, outcome)
       VALUES ($1, $2, $3, 'token', $4, 'read', 'Token retrieved', 'success')`,
      [tenant.id, new Date(atMs), newOrderedId(atMs), entityId],
    );
  }

  const has = (id: string) => (stream: OpenStream) => stream.entities().includes(id);

  it('sends what is new as events, each with an id, in the form of GET /logs with details', async () => {
    const stream = await follow();
    assert.equal(stream.response.headers['content-type'], 'text/event-stream');
    assert.equal(stream.response.headers['cache-control'], 'no-store');
    assert.deepEqual(stream.events()[0]?.event, 'open');
    const key = await app.makeKey(tenant.id, 'private', ['token:create']);
    const { json } = await app.call('POST', '/tokens', { key, body: { data: 'x' } });
    await stream.until('the entry came', has(json.id));
    const { data: entries } = (await app.call('GET', `/logs?entity_id=${json.id}&include=details`, { key: tenant.key }))
      .json;
    const event = stream.events().find(({ data }) => data?.entity_id === json.id);
    assert.deepEqual(event?.data, entries[0]);
    assert.notEqual(event?.id, '');
    stream.close();
  });

  it('sends nothing that was there before, and nothing of a neighbour', async () => {
    const early = newId();
    await write(early);
    const stream = await follow();
    const other = await app.makeTenant();
    const theirs = await app.call('PUT', '/tenants/self', { key: other.key, body: { name: 'theirs' } });
    assert.equal(theirs.status, 200);
    const late = newId();
    await write(late);
    await stream.until('the later one came', has(late));
    assert.equal(stream.entities().includes(early), false);
    assert.equal(stream.text().includes(other.id), false);
    stream.close();
  });

  it('takes the filters of GET /logs', async () => {
    const [wanted, other] = [newId(), newId()];
    const stream = await follow(`?entity_id=${wanted}&operation=read&outcome=success&entity_type=token`);
    const none = await follow(`?entity_id=${wanted}&outcome=denied`);
    await write(other);
    await write(wanted);
    const all = await follow();
    await stream.until('the wanted one came', has(wanted));
    const marker = newId();
    await write(marker);
    await all.until('a later one came', has(marker));
    assert.deepEqual([stream.entities(), none.entities()], [[wanted], []]);
    for (const each of [stream, none, all]) each.close();
  });

  it('goes on behind the last event, by the header and by the parameter: nothing lost, nothing twice', async () => {
    const ids = Array.from({ length: 6 }, newId);
    const first = await follow();
    for (const id of ids.slice(0, 3)) await write(id);
    await first.until('three came', (one) => one.entities().length >= 3);
    const middle = first.events().find(({ data }) => data?.entity_id === ids[1])?.id ?? '';
    first.close();
    for (const id of ids.slice(3)) await write(id);
    for (const [query, headers] of [
      ['', { 'Last-Event-ID': middle }],
      [`?after=${middle}`, {}],
    ] as const) {
      const second = await follow(query, headers);
      const marker = newId();
      await write(marker);
      await second.until('all came', has(marker));
      const seen = second.entities().filter((id) => ids.includes(id ?? ''));
      assert.deepEqual(seen, ids.slice(2));
      second.close();
    }
  });

  it('loses nothing and repeats nothing where transactions become visible in another order than their entries have', async () => {
    const [slow, quick, later] = [newId(), newId(), newId()];
    const client = await connectAs(app.db.ownerTarget);
    const stream = await follow();
    try {
      await client.query('BEGIN');
      await write(slow, 2 * MINUTE_MS, client.query.bind(client));
      await write(quick);
      await stream.until('the quick one came', has(quick));
      const behindQuick = stream.lastId();
      stream.close();
      await client.query('COMMIT');
      const second = await follow('', { 'Last-Event-ID': behindQuick });
      await write(later);
      await second.until('the later one came', has(later));
      assert.deepEqual(second.entities(), [slow, later]);
      second.close();
    } finally {
      await client.end();
    }
  });

  it('goes on in another process where this one ended', async () => {
    const beside = await startTestApp({ clock, beside: { db: app.db, rootKey: rootKeyOf(app) } });
    try {
      const ids = Array.from({ length: 20 }, newId);
      const first = await follow();
      const second = await follow('', {}, person, beside);
      const seen: (string | undefined)[] = [];
      let place = first.lastId();
      first.close();
      for (const [at, id] of ids.entries()) {
        await write(id);
        const stream = await follow('', { 'Last-Event-ID': place }, person, at % 2 === 0 ? beside : app);
        await stream.until('it came', (one) => one.entities().length > 0);
        seen.push(...stream.entities());
        place = stream.lastId();
        stream.close();
      }
      await second.until('all came', (one) => one.entities().includes(ids.at(-1)));
      assert.deepEqual(seen, ids);
      assert.deepEqual(second.entities(), ids);
      second.close();
    } finally {
      await beside.close();
    }
  });

  it('ends a reader that does not keep up; it goes on where it was, and has each entry once', async () => {
    const count = 12_000;
    const slow = await openStreamAs(app, person.browser, pathOf('?entity_type=flood'));
    opened.push(slow);
    await slow.until('it is open', (one) => one.events().length > 0);
    slow.response.pause();
    await app.db.owner.query(
      `INSERT INTO logs (tenant_id, created_at, id, entity_type, entity_id, operation, message, outcome, trace_id)
       SELECT $1, $2::timestamptz + n * interval '1 ms', gen_random_uuid(), 'flood', n::text, 'read', repeat('m', 250), 'success',
              repeat('t', 200) FROM generate_series(1, $3) AS n`,
      [tenant.id, new Date(clock.nowMs()), count],
    );
    const seen: (string | undefined)[] = [];
    const reasons: unknown[] = [];
    // A reader that keeps up tells when all of it has been told to the slow one.
    const quick = await follow('?entity_type=flood', { 'Last-Event-ID': slow.lastId() });
    await quick.until('the quick one has the last', has(String(count)));
    quick.close();
    slow.response.resume();
    for (let stream = slow; ; stream = await follow('?entity_type=flood', { 'Last-Event-ID': stream.lastId() })) {
      await stream.until('it is over or has the last', (one) => one.isOver() || has(String(count))(one));
      seen.push(...stream.entities());
      reasons.push(stream.events().at(-1)?.data?.reason);
      if (has(String(count))(stream)) break;
    }
    assert.deepEqual(reasons.slice(0, 1), ['too_slow']);
    assert.deepEqual(
      seen,
      Array.from({ length: count }, (_, n) => String(n + 1)),
    );
  });

  it('says that there may be a gap for a place too old, or of a database that is another one', async () => {
    const stream = await follow();
    const old = stream.lastId();
    stream.close();
    const ahead = Buffer.from(`9:999999999999: ${clock.nowMs()}`).toString('base64url');
    assert.equal((await follow('', { 'Last-Event-ID': ahead })).events()[0]?.event, 'gap');
    clock.advance(16 * MINUTE_MS);
    assert.equal((await follow('', { 'Last-Event-ID': old })).events()[0]?.event, 'gap');
    for (const each of opened) each.close();
  });

  it('400 for an id that is none, before anything is opened', async () => {
    const texts = [
      'x',
      '%',
      'a'.repeat(13_000),
      ...['1:1', '2:1: 5', `1:5:9 ${clock.nowMs()}`].map((text) => Buffer.from(text).toString('base64url')),
    ];
    for (const text of texts) {
      const answer = await person.browser.call('GET', pathOf(`?after=${encodeURIComponent(text)}`));
      assert.equal(answer.status, 400, text);
    }
  });

  it('is heard of while nothing happens, with a place to go on from', async () => {
    const stream = await follow(`?entity_id=${newId()}`);
    const { length } = stream.events();
    clock.advance(20_000);
    await stream.until('a beat came', (one) => one.events().length > length);
    const beat = stream.events().at(-1);
    assert.deepEqual([beat?.event, beat?.data], ['', undefined]);
    assert.notEqual(beat?.id, '');
    stream.close();
  });

  it('ends when its session ends, and a new connection is 401', async () => {
    const leaver = await makePerson(app, tenant.id, 'ADMIN');
    const stream = await follow('', {}, leaver);
    const { cookie } = leaver.browser;
    await leaver.browser.call('POST', '/portal/api/sign-out');
    clock.advance(MINUTE_MS);
    await stream.until('it is over', (one) => one.isOver());
    const { event, data } = stream.events().at(-1) ?? {};
    assert.deepEqual([event, data], ['end', { reason: 'signed_out' }]);
    const again = await openStreamAs(app, { cookie }, pathOf());
    assert.equal(again.response.statusCode, 401);
  });

  it('sends nothing any more from the moment access ends, and says why', async () => {
    for (const [reason, end] of [
      ['signed_out', ({ browser }: Person) => browser.call('POST', '/portal/api/sign-out')],
      [
        'no_access',
        ({ memberId }: Person) => app.call('DELETE', `/tenants/self/members/${memberId}`, { key: tenant.key }),
      ],
    ] as const) {
      const member = await makePerson(app, tenant.id, 'READ_ONLY');
      const stream = await follow('', {}, member);
      const [before, after] = [newId(), newId()];
      await write(before);
      await stream.until('it follows', has(before));
      assert.equal((await end(member)).status, 204);
      await write(after);
      await stream.until('it is over', (one) => one.isOver());
      assert.deepEqual(stream.events().at(-1)?.data, { reason });
      assert.equal(stream.entities().includes(after), false);
    }
  });

  it('ends when the membership ends, when the user is locked out, and when a session nobody used is over', async () => {
    const ends = [
      async ({ memberId }: Person) => {
        const gone = await app.call('DELETE', `/tenants/self/members/${memberId}`, { key: tenant.key });
        assert.equal(gone.status, 204);
        clock.advance(MINUTE_MS);
      },
      async ({ userId }: Person) => {
        await app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
        clock.advance(MINUTE_MS);
      },
      // Following is no use of a session.
      async () => clock.advance(8 * 60 * MINUTE_MS),
    ];
    const reasons: unknown[] = [];
    for (const end of ends) {
      const member = await makePerson(app, tenant.id, 'READ_ONLY');
      const stream = await follow('', {}, member);
      await end(member);
      await stream.until('it is over', (one) => one.isOver());
      reasons.push(stream.events().at(-1)?.data?.reason);
    }
    assert.deepEqual(reasons.slice(0, 2), ['no_access', 'signed_out']);
    assert.ok(['signed_out', 'restart'].includes(String(reasons[2])));
    person = await makePerson(app, tenant.id, 'READ_ONLY');
  });

  it('503 in clear words for a fifth of a user, whose place is free again once one is closed', async () => {
    const many = await makePerson(app, tenant.id, 'READ_ONLY');
    const streams = await Promise.all(Array.from({ length: 4 }, () => follow('', {}, many)));
    const refused = await many.browser.call('GET', pathOf());
    assert.deepEqual([refused.status, refused.json.code], [503, 'overloaded']);
    assert.match(refused.json.detail, /You have 4 live views of the log open already/);
    assert.notEqual(refused.headers.get('retry-after'), null);
    for (const each of streams) each.close();
    await eventually('there is room again', async () => {
      const stream = await openStreamAs(app, many.browser, pathOf());
      stream.close();
      return stream.response.statusCode === 200;
    });
  });

  it('404 in another tenant, 401 for nobody and for a key, 403 for another site, and HEAD opens nothing', async () => {
    const other = await app.makeTenant();
    assert.equal((await person.browser.call('GET', pathOf('', other.id))).status, 404);
    assert.equal((await openBrowser(app).call('GET', pathOf())).status, 401);
    assert.equal((await openBrowser(app).call('GET', pathOf(), undefined, { 'SVC-API-KEY': tenant.key })).status, 401);
    for (const headers of [
      { Origin: 'https://evil.example' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ]) {
      const stream = await openStreamAs(app, person.browser, pathOf(), headers);
      assert.equal(stream.response.statusCode, 403);
    }
    for (let n = 0; n < 8; n += 1) assert.equal((await person.browser.call('HEAD', pathOf())).status, 200);
  });

  it('says in the end how far it came, so that a quiet hour is no gap', async () => {
    const stream = await follow(`?entity_id=${newId()}`);
    // Another one tells that both have been told of a look.
    const other = await follow();
    for (let steps = 0; steps < 10 && !other.isOver(); steps += 1) {
      const id = newId();
      await write(id);
      await other.until('it came', (one) => has(id)(one) || one.isOver());
      clock.advance(6 * MINUTE_MS);
    }
    await stream.until('it is over', (one) => one.isOver());
    const { event, id = '', data } = stream.events().at(-1) ?? {};
    assert.deepEqual([event, data], ['end', { reason: 'restart' }]);
    const missed = newId();
    await write(missed);
    const next = await follow(`?entity_id=${missed}`, { 'Last-Event-ID': id });
    assert.equal(next.events()[0]?.event, 'open');
    await next.until('it came', has(missed));
    next.close();
  });

  it('ends at once when the server stops', async () => {
    const beside = await startTestApp({ clock, beside: { db: app.db, rootKey: rootKeyOf(app) } });
    const stream = await follow('', {}, person, beside);
    await beside.close();
    await stream.until('it is over', (one) => one.isOver());
    assert.deepEqual(stream.events().at(-1)?.data, { reason: 'restart' });
  });
});
