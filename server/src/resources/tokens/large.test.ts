// needs: time

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import { openVault, pathOf, rule, type TestVault, tally, vaultOf } from './vault-fixture.js';

const LARGE_BYTES = 1_000_000;
/** More than the system keeps for a connection that is not read, together with what is prepared. */
const PAGE_TOKENS = 24;

interface Listed {
  readonly id: string;
  readonly data?: string;
}

describe('large tokens', () => {
  let root: TestVault;
  let vault: TestVault;
  const sockets: Socket[] = [];
  before(async () => {
    root = await openVault();
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await root.app.close();
  });
  beforeEach(async () => {
    vault = await vaultOf(root.app, root.clock);
  });

  const large = (letter: string): string => letter.repeat(LARGE_BYTES);

  async function makeLarge(count: number, more: object = {}): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      vault.clock.advance(1);
      ids.push((await vault.make({ id: `large-${n}`, data: large(String.fromCharCode(97 + n)), ...more })).id);
    }
    return ids.reverse();
  }

  /** A client that reads nothing until it is told to. */
  async function askRaw(path: string, key = vault.key, body?: string) {
    const socket = connect(root.app.port, '127.0.0.1').pause();
    sockets.push(socket);
    const left = new Promise((resolve) => socket.once('error', resolve).once('close', resolve));
    await once(socket, 'connect');
    const typed = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const head = `Host: h\r\nConnection: close\r\nSVC-API-KEY: ${key}\r\n${typed}`;
    socket.write(`${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${head}\r\n${body ?? ''}`);
    return {
      socket,
      /** All it is sent until the connection ends. */
      async read(): Promise<string> {
        const pieces: Buffer[] = [];
        socket.on('data', (piece) => pieces.push(piece));
        socket.resume();
        await left;
        return Buffer.concat(pieces).toString('latin1');
      },
    };
  }

  const entriesOf = async (message: string) =>
    (await vault.logOf()).filter((entry) => entry.message === message).map(({ entity_id }) => entity_id);

  /** The body of an answer in chunks; undefined when it broke off. */
  function bodyOf(raw: string): { pagination: object; data: Listed[] } | undefined {
    const [head = '', ...rest] = raw.split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(head, /\r\nTransfer-Encoding: chunked/i);
    if (!raw.endsWith('\r\n0\r\n\r\n')) return undefined;
    let left = rest.join('\r\n\r\n');
    let text = '';
    for (;;) {
      const end = left.indexOf('\r\n');
      const length = Number.parseInt(left.slice(0, end), 16);
      if (length === 0) return JSON.parse(text);
      text += left.slice(end + 2, end + 2 + length);
      left = left.slice(end + 4 + length);
    }
  }

  it('200 for GET, PATCH and DELETE of one, with the same answers and entries as of a small one', async () => {
    const [id = ''] = await makeLarge(1, { mask: { start: '{{ data | slice: 0, 3 }}' }, metadata: { k: 'v' } });
    const read = await vault.send('GET', pathOf(id));
    assert.equal(read.status, 200);
    assert.equal(read.json.data, large('a'));
    const masked = await vault.send('GET', pathOf(id), undefined, { key: await vault.keyWith([rule('mask')]) });
    assert.deepEqual(masked.json.data, { start: 'aaa' });
    const elsewhere = await vault.keyWith([rule('reveal', '/pci/')]);
    const denied = await vault.send('GET', pathOf(id), undefined, { key: elsewhere });
    assert.deepEqual([denied.status, denied.json.code], [403, 'access_denied']);
    assert.equal((await vault.send('HEAD', pathOf(id))).status, 200);
    const patched = await vault.send('PATCH', pathOf(id), { metadata: { k: 'w' } });
    assert.deepEqual([patched.status, patched.json.metadata], [200, { k: 'w' }], patched.text.slice(0, 200));
    const replaced = await vault.send('PATCH', pathOf(id), { data: large('z') });
    assert.equal(replaced.json.data, large('z'));
    assert.equal((await vault.send('DELETE', pathOf(id))).status, 204);
    assert.equal((await vault.send('GET', pathOf(id))).status, 404);
    const messages = tally((await vault.logOf(id)).map(({ message }) => message));
    const expected = { 'Token created': 1, 'Token retrieved': 3, 'Token updated': 2, 'Token deleted': 1 };
    assert.deepEqual(messages, expected);
    await vault.assertCountersTrue();
  });

  it('200 with everything a page asks for, however large: by number, by cursor and by search', async () => {
    const ids = await makeLarge(5);
    vault.clock.advance(1);
    await vault.make({ id: 'small', data: 'small' });
    const expected = ['small', ...ids];
    const numbered = await vault.send('GET', '/tokens?size=100');
    assert.deepEqual(numbered.json.pagination, { total_items: 6, page_number: 1, page_size: 100, total_pages: 1 });
    const single = await Promise.all(expected.map(async (id) => (await vault.send('GET', pathOf(id))).json));
    assert.deepEqual(numbered.json.data, single);
    const followed = await vault.send('GET', '/v2/tokens?size=4');
    assert.deepEqual(
      followed.json.data.map(({ id }: Listed) => id),
      expected.slice(0, 4),
    );
    const rest = await vault.send('GET', `/v2/tokens?size=4&start=${followed.json.pagination.after}`);
    assert.deepEqual(
      rest.json.data.map(({ id }: Listed) => id),
      expected.slice(4),
    );
    for (const path of ['/tokens/search', '/v2/tokens/search']) {
      const { json } = await vault.send('POST', path, { query: '', size: 10 });
      assert.deepEqual(json.data, single, path);
    }
    const head = await vault.send('HEAD', '/tokens?size=100');
    assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'application/json']);
    assert.deepEqual(tally(await entriesOf('Token listed')), { ...Object.fromEntries(expected.map((id) => [id, 3])) });
    assert.deepEqual(
      tally(await entriesOf('Token found by search')),
      Object.fromEntries(expected.map((id) => [id, 2])),
    );
  });

  it('200 in pieces: each is shown as it is when its turn comes, and all were in the log before the first', async () => {
    const ids = await makeLarge(PAGE_TOKENS);
    const [deleted = '', moved = '', changed = ''] = ids.slice(-3);
    const key = await vault.keyWith([rule('reveal', '/general/')]);
    const { read } = await askRaw('/tokens?size=100', key);
    await eventually('all are in the log', async () => (await entriesOf('Token listed')).length === ids.length);
    assert.deepEqual((await entriesOf('Token listed')).sort(), [...ids].sort());
    assert.equal((await vault.send('DELETE', pathOf(deleted))).status, 204);
    assert.equal((await vault.send('PATCH', pathOf(moved), { containers: ['/pci/'] })).status, 200);
    assert.equal((await vault.send('PATCH', pathOf(changed), { data: 'changed' })).status, 200);
    const body = bodyOf(await read());
    assert.ok(body);
    const left = ids.filter((id) => id !== deleted && id !== moved);
    assert.deepEqual(
      body.data.map(({ id }) => id),
      left,
    );
    assert.equal(body.data.at(-1)?.data, 'changed');
    const again = (await entriesOf('Token listed')).filter((id) => id === changed);
    assert.equal(again.length, 2, 'what is shown in place of what was logged is logged as well');
    assert.equal(body.data[0]?.data?.length, LARGE_BYTES);
  });

  it('breaks off after five minutes: rights of then are not those of now', async () => {
    await makeLarge(PAGE_TOKENS);
    const { read, socket } = await askRaw('/tokens?size=100');
    await once(socket, 'readable');
    vault.clock.advance(300_001);
    assert.equal(bodyOf(await read()), undefined);
    await eventually('nothing is held', () => /_large_bytes_held 0$/m.test(root.app.metrics.render()));
  });

  it('breaks off when the key is revoked or its rules become others while the answer is on its way', async () => {
    await makeLarge(PAGE_TOKENS);
    const { app, tenant } = vault;
    const change = [
      (id: string) => app.call('DELETE', `/applications/${id}`, { key: tenant.key }),
      (id: string) =>
        app.call('PUT', `/applications/${id}`, { key: tenant.key, body: { name: 'n', rules: [rule('mask')] } }),
    ];
    for (const act of change) {
      const { id, key } = await app.makeApplication(tenant.id, 'private', [], [rule('reveal')]);
      const { read, socket } = await askRaw('/tokens?size=100', key);
      await once(socket, 'readable');
      assert.ok((await act(id)).status < 300);
      assert.equal(bodyOf(await read()), undefined);
    }
    await eventually('nothing is held', () => /_large_bytes_held 0$/m.test(root.app.metrics.render()));
  });

  it('breaks off when a piece fails, so that nobody takes it for whole, and the operator is told', async () => {
    const ids = await makeLarge(PAGE_TOKENS);
    await root.app.db.owner.query(
      `UPDATE tokens SET sealed = overlay(sealed placing '\\x00'::bytea from 1000) WHERE tenant_id = $1 AND id = $2`,
      [vault.tenant.id, ids.at(-1)],
    );
    root.app.logLines.length = 0;
    const { read } = await askRaw('/tokens?size=100');
    const raw = await read();
    assert.ok(raw.length > LARGE_BYTES * 10);
    assert.equal(bodyOf(raw), undefined);
    assert.ok(root.app.logLines.some((line) => line.includes('integrity_fault')));
    const first = await vault.send('GET', '/tokens?size=100&page=1&id=large-0');
    assert.equal(first.status, 503, 'before the first byte it is a problem like any other');
  });

  it('503 with Retry-After when a tenant has its share of memory; others are served, and it is again later', async () => {
    await makeLarge(PAGE_TOKENS);
    const clients = await Promise.all(Array.from({ length: 48 }, () => askRaw('/tokens?size=100')));
    await eventually('as many wait as may', () =>
      /^strongroom_large_requests_waiting 32$/m.test(root.app.metrics.render()),
    );
    const refused = await vault.send('GET', '/tokens?size=100');
    assert.deepEqual([refused.json.code, refused.headers.get('retry-after')], ['overloaded', '1']);
    const mine = vault;
    vault = await vaultOf(root.app, root.clock);
    const [id = ''] = await makeLarge(2);
    assert.equal((await vault.send('GET', pathOf(id))).status, 200, 'another tenant reads a large token');
    assert.equal((await vault.send('GET', '/tokens')).json.data.length, 2, 'and a large page');
    await mine.make({ id: 'small', data: 1 });
    assert.equal((await mine.send('GET', '/tokens/small')).status, 200, 'what is small does not wait');
    for (const { socket } of clients) socket.destroy();
    const own = await mine.send('GET', '/tokens?size=3');
    assert.equal(own.json.data.length, 3);
  });

  it('200 for a body that is large by spaces alone, with room for all it leads to', async () => {
    await makeLarge(PAGE_TOKENS);
    const spaces = ' '.repeat(66_000);
    const heldBytes = () => Number(/_large_bytes_held (\d+)$/m.exec(root.app.metrics.render())?.[1]);
    const search = await askRaw('/tokens/search', vault.key, `${spaces}{"query":"","size":100}`);
    await once(search.socket, 'readable');
    assert.ok(heldBytes() >= 3 * LARGE_BYTES + spaces.length, `${heldBytes()} bytes`);
    assert.equal(bodyOf(await search.read())?.data.length, PAGE_TOKENS);
    await eventually('nothing is held', () => heldBytes() === 0);
  });

  it('200 in pieces for a page whose masks make much of little', async () => {
    const mask = Array.from({ length: 60 }, () => '{{ data }}');
    for (let n = 0; n < 10; n += 1) await vault.make({ id: `masked-${n}`, data: 'd'.repeat(5_000), mask });
    const key = await vault.keyWith([rule('mask')]);
    const { status, headers, json } = await vault.send('GET', '/tokens', undefined, { key });
    assert.deepEqual([status, headers.get('transfer-encoding')], [200, 'chunked']);
    assert.equal(json.data.length, 10);
    for (const { data } of json.data)
      assert.deepEqual(
        data,
        mask.map(() => 'd'.repeat(5_000)),
      );
  });

  it('413 when small values lead to more stored data than one answer may hold, and nothing is written', async () => {
    const expression = (n: number) => ({ fingerprint_expression: `{{ "value ${n}" }}`, deduplicate_token: true });
    for (let n = 0; n < 6; n += 1) await vault.make({ id: `held-${n}`, data: large('h'), ...expression(n) });
    const one = await vault.send('POST', '/tokens', { data: 'x', ...expression(0) });
    assert.deepEqual([one.status, one.json.id, one.json.data], [201, 'held-0', large('h')]);
    const values = Array.from({ length: 6 }, (_, n) => ({ type: 'token', data: 'x', ...expression(n) }));
    const many = await vault.send('POST', '/tokenize', values);
    assert.deepEqual([many.status, many.json.code], [413, 'payload_too_large']);
    assert.equal((await entriesOf('Token matched by deduplication')).length, 1);
  });

  it('200 for expressions on more large tokens than are open at once, each with its entry', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `part-${n}`);
    for (const id of ids) await vault.make({ id, data: { text: large('t'), end: `end of ${id}` } });
    await vault.make({ id: 'small', data: { end: 'end of small' } });
    const endOf = (id: string) => `{{ ${id} | json: "$.end" }}`;
    const ends = ids.map(endOf);
    const body = { ends, again: [...ends].reverse(), small: endOf('small'), both: `${ends[0]}, ${ends[1]}` };
    const { status, json, text } = await vault.send('POST', '/detokenize', body);
    assert.equal(status, 200, text);
    const expected = ids.map((id) => `end of ${id}`);
    assert.deepEqual(json, {
      ends: expected,
      again: [...expected].reverse(),
      small: 'end of small',
      both: 'end of part-0, end of part-1',
    });
    assert.deepEqual((await entriesOf('Token detokenized')).sort(), [...ids, 'small'].sort());
  });

  it('stops opening large tokens for a client that has gone away, and gives its share back', async () => {
    const ids = await makeLarge(PAGE_TOKENS);
    const body = JSON.stringify(ids.map((id) => `{{ ${id} | size }}`));
    const head = `POST /detokenize HTTP/1.1\r\nHost: h\r\nSVC-API-KEY: ${vault.key}\r\nContent-Type: application/json`;
    const held = () => Number(/_large_bytes_held (\d+)$/m.exec(root.app.metrics.render())?.[1]);
    await eventually('nothing is held', () => held() === 0);
    const socket = connect(root.app.port, '127.0.0.1');
    sockets.push(socket);
    socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await eventually('it is under way', () => held() > 0);
    socket.destroy();
    await eventually('its share is free', () => held() === 0);
    assert.equal((await entriesOf('Token detokenized')).length, 0);
  });

  it('403 before any expression is looked at, when one of many large tokens is out of reach', async () => {
    const ids = await makeLarge(6);
    const hidden = await vault.make({ id: 'hidden', data: large('h'), containers: ['/pci/'] });
    const key = await vault.keyWith([rule('reveal', '/general/')]);
    const body = [...ids.map((id) => `{{ ${id} | no_such_filter }}`), `{{ ${hidden.id} }}`];
    const { status, json } = await vault.send('POST', '/detokenize', body, { key });
    assert.deepEqual([status, json.code], [403, 'access_denied']);
    assert.equal((await entriesOf('Token opened, request refused')).length, 0);
  });

  it('400 with an entry for each token when an expression on large tokens fails', async () => {
    const ids = await makeLarge(3);
    const body = ids.map((id) => `{{ ${id} | json: "$.x" | divided_by: 0 }}`);
    const { status, json } = await vault.send('POST', '/detokenize', body);
    assert.deepEqual([status, json.code], [400, 'invalid_expression']);
    assert.deepEqual((await entriesOf('Token opened, request refused')).sort(), [...ids].sort());
  });

  it('400 for an expression whose tokens are too large to be open together', async () => {
    const ids = await makeLarge(6);
    const { status, json } = await vault.send(
      'POST',
      '/detokenize',
      ids.map((id) => `{{ ${id} | slice: 0 }}`).join(''),
    );
    assert.deepEqual([status, json.code], [400, 'invalid_expression']);
    assert.match(json.detail, /4194304 bytes/);
  });
});
