import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Answer } from '../../testing/http-client.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const BODY_BYTES_MAX = 1_048_576;
const DEPTH_MAX = 64;

describe('request bodies', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp();
    ({ key } = await app.makeTenant());
  });
  after(() => app.close());

  const put = (raw: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
    app.call('PUT', '/tenants/self', { key, raw, headers });
  const stored = async () => (await app.call('GET', '/tenants/self', { key })).json;
  const refused = (answer: Answer, status: number, code: string): void => {
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.json.code, code);
  };

  for (const type of [
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF8',
    'application/json; charset="utf-8"',
    'application/json; Charset=Utf-8',
    'application/json; boundary=x',
    'application/vnd.strongroom.tenant+json',
  ]) {
    it(`200 with Content-Type ${type}`, async () => {
      const answer = await put(`{"name":"sent as ${type.length}"}`, { 'Content-Type': type });
      assert.equal(answer.status, 200, answer.text);
      assert.equal((await stored()).name, `sent as ${type.length}`);
    });
  }

  for (const type of [
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/vnd.strongroom.tenant+json; charset=us-ascii',
    ';;;',
  ]) {
    it(`415 with Content-Type ${type}, and nothing changes`, async () => {
      const { name } = await stored();
      refused(await put('{"name":"must not be stored"}', { 'Content-Type': type }), 415, 'unsupported_media_type');
      assert.equal((await stored()).name, name);
    });
  }

  it('415 for a body without Content-Type, because its kind would be a guess', async () => {
    const status = await new Promise((resolve, reject) => {
      const options = { port: app.port, method: 'PUT', path: '/tenants/self', headers: { 'SVC-API-KEY': key } };
      const sent = request(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.once('error', reject);
      sent.end('{"name":"n"}');
    });
    assert.equal(status, 415);
  });

  it('415 for a content encoding, even one that would decode', async () => {
    refused(await put(gzipSync('{"name":"n"}'), { 'Content-Encoding': 'gzip' }), 415, 'unsupported_media_type');
    refused(await put('{"name":"n"}', { 'Content-Encoding': 'br' }), 415, 'unsupported_media_type');
    assert.equal((await put('{"name":"n"}', { 'Content-Encoding': 'identity' })).status, 200);
  });

  it('400 naming the whole body when a needed one is empty, whatever its content type says', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
      const answer = await put('', { 'Content-Type': type });
      refused(answer, 400, 'validation_failed');
      assert.deepEqual(Object.keys(answer.json.errors), ['$']);
    }
  });

  it('204 for DELETE with an empty body, an empty object or a form type: none is needed', async () => {
    const bodies: [string, string][] = [
      ['', 'application/json'],
      ['{}', 'application/json'],
      ['', 'application/x-www-form-urlencoded'],
    ];
    for (const [raw, type] of bodies) {
      const doomed = await app.makeTenant();
      const options = { key: doomed.key, raw, headers: { 'Content-Type': type } };
      assert.equal((await app.call('DELETE', '/tenants/self', options)).status, 204);
    }
  });

  it('400 for text that is not UTF-8', async () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
      refused(await put(body), 400, 'malformed_json');
    }
  });

  it('400 with the place of the fault for what is not JSON, and not a word of the body', async () => {
    for (const raw of [
      '{"name":"secret-canary"',
      "{'name':'secret-canary'}",
      '{"name":secret-canary}',
      ' ',
      '{"a":1}}',
    ]) {
      const answer = await put(raw);
      refused(answer, 400, 'malformed_json');
      assert.ok(!answer.text.includes('canary'));
    }
  });

  it('400 for JSON that is not an object', async () => {
    for (const raw of ['[]', 'null', '"name"', '1', 'true']) {
      const answer = await put(raw);
      refused(answer, 400, 'validation_failed');
      assert.deepEqual(answer.json.errors, { $: ['must be an object'] });
    }
  });

  it(`200 at ${DEPTH_MAX} levels of nesting and 400 at one more, in arrays, objects and garbage alike`, async () => {
    const arrays = (depth: number) => `{"name":"n","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    const objects = (depth: number) => `{"name":"n","x":${'{"x":'.repeat(depth - 1)}1${'}'.repeat(depth - 1)}}`;
    for (const nested of [arrays, objects]) {
      assert.equal((await put(nested(DEPTH_MAX))).status, 200);
      refused(await put(nested(DEPTH_MAX + 1)), 400, 'malformed_json');
    }
    refused(await put('['.repeat(5_000)), 400, 'malformed_json');
  });

  it('200 when brackets beyond the depth stand inside a string', async () => {
    assert.equal((await put(`{"name":"n","x":"${'[{'.repeat(500)}"}`)).status, 200);
  });

  it('200 with numbers no double can hold in a field nobody knows, 400 for one as the name', async () => {
    assert.equal((await put('{"name":"n","x":1e999999,"y":-123456789012345678901234567890}')).status, 200);
    const answer = await put('{"name":1e999999}');
    refused(answer, 400, 'validation_failed');
    assert.deepEqual(answer.json.errors, { name: ['must be a string'] });
  });

  it('200 and the last of duplicate keys counts', async () => {
    assert.equal((await put('{"name":"first","settings":{},"name":"last"}')).json.name, 'last');
    assert.equal((await stored()).name, 'last');
  });

  it('200 with __proto__ and constructor as harmless unknown fields', async () => {
    const hostile = '"__proto__":{"name":"inherited","polluted":1},"constructor":{"prototype":{"polluted":1}}';
    const { status, json } = await put(`{"name":"clean",${hostile}}`);
    assert.equal(status, 200);
    assert.equal(json.name, 'clean');
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    const inherited = await put('{"__proto__":{"name":"inherited"}}');
    refused(inherited, 400, 'validation_failed');
    assert.deepEqual(inherited.json.errors, { name: ['is required'] });
  });

  it('400 naming __proto__ and other inherited names as unknown settings', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const answer = await put(`{"name":"n","settings":{"${name}":"true"}}`);
      refused(answer, 400, 'validation_failed');
      assert.deepEqual(Object.keys(answer.json.errors), [`settings.${name}`]);
      assert.match(answer.json.errors[`settings.${name}`][0], /fingerprint_tokens.*deduplicate_tokens/);
    }
  });

  it('200 with a byte order mark in front', async () => {
    assert.equal((await put(`\uFEFF{"name":"marked"}`)).json.name, 'marked');
  });

  it('200 at exactly 1 MiB and 413 for one byte more', async () => {
    const padded = (bytes: number) => '{"name":"n"}'.padEnd(bytes);
    assert.equal((await put(padded(BODY_BYTES_MAX))).status, 200);
    refused(await put(padded(BODY_BYTES_MAX + 1)), 413, 'payload_too_large');
  });

  it('403 before 415, 413 and 400: what a key may not do is not looked at', async () => {
    const tenant = await app.makeTenant();
    const reader = await app.makeKey(tenant.id, 'management', ['tenant:read']);
    for (const raw of ['not json', ' '.repeat(BODY_BYTES_MAX + 1)]) {
      const headers = { 'Content-Type': 'text/plain' };
      const answer = await app.call('PUT', '/tenants/self', { key: reader, raw, headers });
      refused(answer, 403, 'permission_denied');
    }
  });
});
