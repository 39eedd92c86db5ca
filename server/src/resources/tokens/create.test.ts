import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { isLowerCaseUuid } from '../../kernel/ids.js';
import {
  CARD,
  MASKED_CARD,
  NOON_MS,
  openVault,
  pathOf,
  rule,
  SAMPLES,
  type TestVault,
  tally,
  times,
  writesNothing,
} from './vault-fixture.js';

const SCALARS = [
  fc.string(),
  fc.boolean(),
  fc.constant(null),
  fc.integer(),
  fc.double({ min: -1e15, max: 1e15, noNaN: true }),
];
const NOON = '2030-05-14T12:00:00.000+00:00';

describe('POST /tokens', () => {
  let vault: TestVault;
  let masked: string;
  before(async () => {
    vault = await openVault();
    masked = await vault.keyWith([], ['token:create', 'token:read']);
  });
  after(() => vault.app.close());

  const refused = (body: unknown, options = {}) =>
    writesNothing(vault.app, () => vault.send('POST', '/tokens', body, options));

  it('201 for metadata whose names hold line breaks, and every entry comes back', async () => {
    const metadata = { 'a\nb': '1', '\r': '2', 'c\u2028d\u2029': '3', plain: 'x\ny' };
    const { id, metadata: made } = await vault.make({ data: 'x', metadata });
    assert.deepEqual(made, metadata);
    const { json } = await vault.send('GET', pathOf(id));
    assert.deepEqual(json.metadata, metadata);
  });

  for (const [type, sample] of Object.entries(SAMPLES)) {
    it(`201 for a ${type}: defaults of its type, the value back for reveal, and masked for others`, async () => {
      const { status, json, headers } = await vault.send('POST', '/tokens', { type, data: sample.data });
      assert.equal(status, 201);
      assert.ok(isLowerCaseUuid(json.id));
      assert.equal(headers.get('location'), `/tokens/${json.id}`);
      assert.deepEqual([json.type, json.data, json.containers], [type, sample.data, [sample.container]]);
      assert.deepEqual([json.tenant_id, json.created_at], [vault.tenant.id, NOON]);
      for (const absent of ['fingerprint', 'metadata', 'expires_at', 'modified_at', 'modified_by', 'encryption']) {
        assert.equal(absent in json, false, absent);
      }
      const [, classification, level] = sample.container.split('/');
      const policy = sample.masked === undefined ? 'redact' : 'mask';
      assert.deepEqual(json.privacy, { classification, impact_level: level, restriction_policy: policy });
      assert.equal(json.search_indexes?.length, sample.container === '/pii/high/' ? 3 : undefined);
      const { json: again } = await vault.send('GET', pathOf(json.id));
      assert.deepEqual(again, json);
      const { json: seen } = await vault.send('GET', pathOf(json.id), undefined, { key: masked });
      assert.deepEqual(seen.data, sample.masked);
      assert.equal('data' in seen, sample.masked !== undefined);
      assert.deepEqual((await vault.make({ type, data: sample.data }, masked)).data, sample.masked);
    });
  }

  it('201 with every field, each as it was sent or as the rules shape it, and the same on a read', async () => {
    const body = {
      id: 'every-field 1',
      type: 'card',
      data: { ...CARD, extra: { nested: [null, true] } },
      mask: { last: '{{ data.number | last4 }}', month: '{{ data.expiration_month }}', broken: '{{ data | nope' },
      containers: ['/PCI/High/', '/b/'],
      metadata: { plain: 'text', empty: '', __proto__x: 'y' },
      search_indexes: ['{{ data.number | last4 }}'],
      fingerprint_expression: '{{ data.number }}',
      expires_at: '5/15/2030',
      privacy: { impact_level: 'low', restriction_policy: 'redact' },
      encryption: { cek: { alg: 'x' }, kek: null },
    };
    const made = await vault.make(body);
    const { fingerprint, tenant_id: _, created_by: by, ...shown } = made;
    assert.match(fingerprint, /^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    assert.ok(isLowerCaseUuid(by));
    assert.deepEqual(shown, {
      ...body,
      containers: ['/pci/high/', '/b/'],
      expires_at: '2030-05-15T00:00:00.000+00:00',
      privacy: { classification: 'pci', impact_level: 'low', restriction_policy: 'redact' },
      created_at: NOON,
    });
    assert.deepEqual((await vault.send('GET', pathOf(body.id))).json, made);
    const { json } = await vault.send('GET', pathOf(body.id), undefined, { key: masked });
    assert.deepEqual(json.data, { last: '4242', month: 12 });
    assert.deepEqual(json.mask, body.mask);
  });

  it('201 with null, unknown and server-set fields as if they were left out', async () => {
    const nothing = Object.fromEntries(
      ['id', 'type', 'mask', 'containers', 'metadata', 'search_indexes', 'fingerprint_expression', 'expires_at']
        .concat('deduplicate_token', 'privacy', 'encryption')
        .map((name) => [name, null]),
    );
    const set = { tenant_id: 'x', created_by: 1, created_at: [], modified_by: {}, fingerprint: 'f', surprise: 1 };
    const json = await vault.make({ ...nothing, ...set, data: { kept: null } });
    assert.deepEqual(Object.keys(json).sort(), [
      'containers',
      'created_at',
      'created_by',
      'data',
      'id',
      'privacy',
      'tenant_id',
      'type',
    ]);
    assert.deepEqual([json.data, json.type, json.created_at], [{ kept: null }, 'token', NOON]);
  });

  it('201 for any JSON as data, returned exactly, also under names a prototype has', async () => {
    const raws = ['{"__proto__":{"a":1},"constructor":2}', '0', 'false', '""', '[]', '-1.5e-7', '[[{}]]', '"\\u0000"'];
    for (const raw of raws) {
      const { status, text } = await vault.send('POST', '/tokens', undefined, { raw: `{"data":${raw}}` });
      assert.equal(status, 201, raw);
      assert.ok(text.includes(`"data":${raw === '"\\u0000"' ? '"\\u0000"' : JSON.stringify(JSON.parse(raw))}`), text);
    }
    await fc.assert(
      fc.asyncProperty(fc.anything({ maxDepth: 4, values: SCALARS }), async (value) => {
        const data = JSON.parse(JSON.stringify(value));
        if (data === null) return;
        const made = await vault.make({ data });
        assert.deepEqual(made.data, data);
        assert.deepEqual((await vault.send('GET', pathOf(made.id))).json.data, data);
      }),
      { numRuns: 25 },
    );
  });

  it('201 with Location and read back for ids that have to be percent-encoded', async () => {
    for (const id of [
      'weird id:1',
      'ümläut-😀',
      'two  spaces',
      'q\'uo"te',
      'a.b,c;d@e!f$g*h(i)',
      '...',
      'x'.repeat(400),
    ]) {
      const { status, json, headers } = await vault.send('POST', '/tokens', { id, data: id });
      assert.equal(status, 201, id);
      assert.equal(json.id, id);
      const location = headers.get('location') ?? '';
      assert.equal((await vault.send('GET', location)).json.data, id);
      assert.equal((await vault.send('GET', `${pathOf(id)}/`)).status, 200);
      assert.equal((await vault.send('DELETE', location)).status, 204);
    }
    await vault.make({ id: 'Case', data: 1 });
    assert.equal((await vault.send('GET', '/tokens/case')).status, 404);
  });

  it('201 with an alias for an id; 400 when the expression fails or gives a bad one', async () => {
    const alias = { type: 'card', data: CARD, id: '{{ data.number | alias_card: false, true }}' };
    assert.match((await vault.make(alias)).id, /^\d{12}4242$/);
    for (const id of [
      '{{ data.nothing }}',
      '{{ data }}',
      '{{ data.number | slice: 0, 2 }}',
      '{{ data.number }}/x',
      '{{ x |',
    ]) {
      const { status, json } = await refused({ ...alias, id });
      assert.equal(status, 400, id);
      assert.deepEqual(Object.keys(json.errors), ['id'], id);
      assert.ok(!JSON.stringify(json).includes(CARD.number));
    }
  });

  it('201 with a UUID when an alias keeps colliding, also when many come at once', async () => {
    const body = { data: 'fixed', id: 'al{{ data }}' };
    const answers = await times(20, () => vault.send('POST', '/tokens', body));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 201: 20 });
    const ids = answers.map(({ json }) => json.id);
    assert.equal(new Set(ids).size, 20);
    assert.equal(ids.filter((id) => id === 'alfixed').length, 1);
    assert.equal(ids.filter(isLowerCaseUuid).length, 19);
    for (const id of ids) assert.equal((await vault.send('GET', pathOf(id))).json.data, 'fixed');
    await vault.assertCountersTrue();
  });

  it('409 for an id that is taken, and nothing is written', async () => {
    await vault.make({ id: 'taken', data: 'first' });
    const { status, json } = await refused({ id: 'taken', data: 'second' });
    assert.deepEqual([status, json.code], [409, 'token_id_conflict']);
    assert.equal((await vault.send('GET', '/tokens/taken')).json.data, 'first');
  });

  it('201 under the id of a deleted token and under that of an expired one that was not swept yet', async () => {
    await vault.make({ id: 'reused', data: 1, expires_at: new Date(NOON_MS + 1).toISOString() });
    vault.clock.advance(1);
    assert.equal((await vault.make({ id: 'reused', data: 2 })).data, 2);
    assert.equal((await vault.send('DELETE', '/tokens/reused')).status, 204);
    assert.equal((await vault.make({ id: 'reused', data: 3 })).data, 3);
    const messages = tally((await vault.logOf('reused')).map(({ message }) => message));
    assert.deepEqual(messages, { 'Token created': 3, 'Token deleted': 1, 'Token expired': 1 });
    await vault.assertCountersTrue();
  });

  it('400 that names the field for everything that is wrong, and nothing is written', async () => {
    const long = 'x'.repeat(401);
    const cases: [unknown, string][] = [
      [[], '$'],
      ['text', '$'],
      [{}, 'data'],
      [{ data: null }, 'data'],
      [{ data: 1, id: 'ab' }, 'id'],
      [{ data: 1, id: long }, 'id'],
      [{ data: 1, id: 'a/b' }, 'id'],
      [{ data: 1, id: 'a\u0000b' }, 'id'],
      [{ data: 1, id: 7 }, 'id'],
      [{ data: 1, type: 'nope' }, 'type'],
      [{ data: 1, type: 'constructor' }, 'type'],
      [{ data: { n: [2 ** 53] } }, 'data.n[0]'],
      [{ data: {}, type: 'card' }, 'data.number'],
      [{ data: { number: '4242424242424241' }, type: 'card' }, 'data.number'],
      [{ data: { number: CARD.number, expiration_month: 13 }, type: 'card' }, 'data.expiration_month'],
      [{ data: { number: CARD.number, cvc: '12' }, type: 'card' }, 'data.cvc'],
      [{ data: 1, containers: ['pci/'] }, 'containers[0]'],
      [{ data: 1, containers: 'pci' }, 'containers'],
      [{ data: 1, metadata: { k: 1 } }, 'metadata.k'],
      [{ data: 1, metadata: { k: 'v\u0000' } }, 'metadata.k'],
      [{ data: 1, search_indexes: ['{{ data.none }}'] }, 'search_indexes[0]'],
      [{ data: {}, search_indexes: ['{{ data }}'] }, 'search_indexes[0]'],
      [{ data: 1, search_indexes: [long] }, 'search_indexes[0]'],
      [{ data: 1, fingerprint_expression: '{{ data.none }}' }, 'fingerprint_expression'],
      [{ data: 1, fingerprint_expression: '{{ data | nofilter }}' }, 'fingerprint_expression'],
      [{ data: 1, fingerprint_expression: 'a\ud800b' }, 'fingerprint_expression'],
      [{ data: '\udc00', fingerprint_expression: '{{ data }}' }, 'fingerprint_expression'],
      [{ data: 1, search_indexes: ['\udc00'] }, 'search_indexes[0]'],
      [{ data: 'a\ud800', search_indexes: ['{{ data | upcase }}'] }, 'search_indexes[0]'],
      [{ data: 1, deduplicate_token: 'true' }, 'deduplicate_token'],
      [{ data: 1, expires_at: '2020-01-01' }, 'expires_at'],
      [{ data: 1, expires_at: 'soon' }, 'expires_at'],
      [{ data: 1, privacy: { classification: 'x' } }, 'privacy.classification'],
      [{ data: 1, encryption: 'none' }, 'encryption'],
    ];
    await writesNothing(vault.app, async () => {
      for (const [body, path] of cases) {
        const { status, json } = await vault.send('POST', '/tokens', body);
        assert.equal(status, 400, JSON.stringify(body));
        assert.deepEqual(Object.keys(json.errors ?? {}), [path], JSON.stringify(body));
      }
    });
  });

  it('403 unless every container is granted, the strictest transform shows, and nothing is written', async () => {
    const rules = [rule('reveal', '/a/'), rule('mask', '/b/', undefined, 2), rule('redact', '/c/', undefined, 3)];
    const key = await vault.keyWith(rules);
    const card = (...containers: string[]) => ({ type: 'card', data: CARD, containers });
    assert.deepEqual((await vault.make(card('/a/x/'), key)).data, CARD);
    assert.deepEqual((await vault.make(card('/a/', '/b/'), key)).data, MASKED_CARD);
    assert.equal('data' in (await vault.make(card('/a/', '/b/', '/c/'), key)), false);
    for (const containers of [['/d/'], ['/a/', '/d/'], ['/'], ['/ab/']]) {
      const { status, json } = await refused(card(...containers), { key });
      assert.deepEqual([status, json.code], [403, 'access_denied'], containers.join());
    }
  });

  it('201 where privacy says without containers, and the rules judge that place', async () => {
    const body = { data: 1, privacy: { classification: 'pii', impact_level: 'low' } };
    const made = await vault.make(body);
    assert.deepEqual(made.containers, ['/pii/low/']);
    assert.deepEqual(made.privacy, { classification: 'pii', impact_level: 'low', restriction_policy: 'redact' });
    const key = await vault.keyWith([rule('reveal', '/general/')]);
    assert.equal((await refused(body, { key })).status, 403);
    const placed = await vault.make({ ...body, containers: ['/general/x/'] }, key);
    assert.deepEqual(placed.containers, ['/general/x/'], 'containers that are given count alone');
  });

  it('201 by a session: made and logged in the name of the session, within what it was granted', async () => {
    const shop = await vault.app.makeKey(vault.tenant.id, 'public', ['token:create']);
    const { json: session } = await vault.app.call('POST', '/sessions', { key: shop });
    const rules = [rule('reveal', '/pci/', ['token:create'])];
    const grant = { nonce: session.nonce, rules };
    assert.equal((await vault.app.call('POST', '/sessions/authorize', { key: vault.key, body: grant })).status, 200);
    const made = await vault.make({ type: 'card', data: CARD }, session.session_key);
    assert.deepEqual([made.created_by, made.data], [session.id, CARD]);
    const [entry] = await vault.logOf(made.id);
    assert.equal(entry?.actor_id, session.id);
    assert.equal((await refused({ data: 1 }, { key: session.session_key })).status, 403);
  });

  it('a public key may create and update and nothing else', async () => {
    const key = await vault.app.makeKey(vault.tenant.id, 'public', ['token:create', 'token:update']);
    const { id, data } = await vault.make({ type: 'card', data: CARD }, key);
    assert.deepEqual(data, MASKED_CARD);
    const patched = await vault.send('PATCH', pathOf(id), { metadata: { a: 'b' } }, { key });
    assert.deepEqual([patched.status, patched.json.data], [200, MASKED_CARD]);
    const calls: [string, string][] = [
      ['GET', pathOf(id)],
      ['DELETE', pathOf(id)],
      ['GET', '/tokens'],
      ['GET', '/v2/tokens'],
      ['POST', '/tokens/search'],
      ['POST', '/v2/tokens/search'],
      ['POST', '/detokenize'],
    ];
    for (const [method, path] of calls) {
      const { status, json } = await vault.send(method, path, method === 'POST' ? {} : undefined, { key });
      assert.deepEqual([status, json.code], [403, 'permission_denied'], path);
    }
  });
});
