import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CARD, MASKED_CARD, openVault, pathOf, rule, SAMPLES, type TestVault, writesNothing } from './vault-fixture.js';

describe('PATCH /tokens/{id}', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  const patch = (id: string, body: unknown, options = {}) => vault.send('PATCH', pathOf(id), body, options);
  const search = async (query: string) =>
    (await vault.send('POST', '/tokens/search', { query })).json.data.map(({ id }: { id: string }) => id);

  for (const [type, { data }] of Object.entries(SAMPLES)) {
    it(`200 for a ${type}: what is named changes, the rest stays, and a read gives the same`, async () => {
      const made = await vault.make({ type, data, metadata: { a: '1', b: '2' } });
      vault.clock.advance(1_000);
      const changes = { id: 'ignored', type, data, metadata: { b: null, c: '3' }, unknown: 1, created_at: 'x' };
      const { status, json } = await patch(made.id, changes);
      assert.equal(status, 200);
      const { modified_by, modified_at, ...rest } = json;
      assert.equal(modified_by, made.created_by);
      assert.equal(Date.parse(modified_at), vault.clock.nowMs());
      assert.deepEqual(rest, { ...made, metadata: { a: '1', c: '3' } });
      assert.deepEqual((await vault.send('GET', pathOf(made.id))).json, json);
    });
  }

  it('200 with every field replaced or merged, and null takes each back to its default', async () => {
    const made = await vault.make({ type: 'card', data: CARD, mask: { a: '{{ data.number | last4 }}', b: 'x' } });
    const { status, json } = await patch(made.id, {
      data: { expiration_year: 2040, extra: { deep: 1 } },
      mask: { b: null, c: 'text' },
      containers: ['/New/'],
      metadata: { k: 'v' },
      search_indexes: ['{{ data.number }}'],
      fingerprint_expression: '{{ data.number }}',
      expires_at: '6/1/2030 3:30 PM +02:00',
      privacy: { impact_level: 'moderate' },
      encryption: { note: 1 },
    });
    assert.equal(status, 200);
    assert.deepEqual(json.data, { ...CARD, expiration_year: 2040, extra: { deep: 1 } });
    assert.deepEqual(json.mask, { a: '{{ data.number | last4 }}', c: 'text' });
    assert.deepEqual([json.containers, json.metadata, json.encryption], [['/new/'], { k: 'v' }, { note: 1 }]);
    assert.equal(json.expires_at, '2030-06-01T13:30:00.000+00:00');
    assert.equal(json.privacy.impact_level, 'moderate');
    assert.match(json.fingerprint, /^\w{43,44}$/);
    assert.deepEqual(await search(`data:${CARD.number}`), [made.id]);
    assert.deepEqual(await search('metadata.k:V'), [made.id]);

    const nulls = ['mask', 'metadata', 'search_indexes', 'fingerprint_expression', 'expires_at', 'encryption'];
    const cleared = await patch(made.id, Object.fromEntries(nulls.map((name) => [name, null])));
    assert.equal(cleared.status, 200);
    for (const name of nulls.slice(1)) assert.equal(name in cleared.json, false, name);
    assert.deepEqual(Object.keys(cleared.json.mask), Object.keys(MASKED_CARD));
    assert.equal('fingerprint' in cleared.json, false);
    assert.deepEqual(await search(`data:${CARD.number}`), []);
    assert.deepEqual(await search('metadata.k:v'), []);
    await vault.assertCountersTrue();
  });

  it('200 for both media types of a merge patch, and data that is no object is replaced', async () => {
    const { id } = await vault.make({ data: { a: { b: 1, c: 2 } } });
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    const merged = await vault.send('PATCH', pathOf(id), { data: { a: { b: null } } }, { headers });
    assert.deepEqual(merged.json.data, { a: { c: 2 } });
    assert.deepEqual((await patch(id, { data: [1, null] })).json.data, [1, null]);
    assert.deepEqual((await patch(id, { data: { x: { y: null, z: 0 } } })).json.data, { x: { z: 0 } });
  });

  it('400 that names the field when the outcome is wrong, and nothing is written', async () => {
    const { id } = await vault.make({ type: 'card', data: CARD, search_indexes: ['{{ data.expiration_year }}'] });
    const cases: [unknown, string][] = [
      [[], '$'],
      [{ data: null }, 'data'],
      [{ data: { number: null } }, 'data.number'],
      [{ data: { number: '1' } }, 'data.number'],
      [{ data: 'text' }, 'data'],
      [{ type: 'token' }, 'type'],
      [{ containers: ['x'] }, 'containers[0]'],
      [{ metadata: { k: 1 } }, 'metadata.k'],
      [{ expires_at: '2001-01-01' }, 'expires_at'],
      [{ privacy: { classification: 'bank' } }, 'privacy.classification'],
      [{ data: { huge: 1e300 } }, 'data.huge'],
    ];
    await writesNothing(vault.app, async () => {
      for (const [body, path] of cases) {
        const { status, json } = await patch(id, body);
        assert.equal(status, 400, JSON.stringify(body));
        assert.deepEqual(Object.keys(json.errors), [path], JSON.stringify(body));
      }
    });
  });

  it('403 unless old and new containers are all granted, and nothing is written', async () => {
    const { id } = await vault.make({ type: 'card', data: CARD, containers: ['/a/', '/b/'] });
    const onlyA = await vault.keyWith([rule('reveal', '/a/')]);
    const both = await vault.keyWith([rule('reveal', '/a/'), rule('mask', '/b/', undefined, 2)]);
    for (const [key, body] of [
      [onlyA, { metadata: { x: 'y' } }],
      [onlyA, { containers: ['/a/'] }],
      [both, { containers: ['/c/'] }],
      [both, { containers: null }],
    ] as const) {
      const { status, json } = await writesNothing(vault.app, () => patch(id, body, { key }));
      assert.deepEqual([status, json.code], [403, 'access_denied']);
    }
    const moved = await patch(id, { containers: ['/a/'] }, { key: both });
    assert.deepEqual([moved.status, moved.json.data], [200, MASKED_CARD], 'the container it left counts too');
    assert.deepEqual((await patch(id, {}, { key: onlyA })).json.data, CARD);
  });

  it('fingerprints follow the data, the expression and the setting of the tenant', async () => {
    const made = await vault.make({ data: 'one', fingerprint_expression: 'x{{ data }}' });
    const two = (await patch(made.id, { data: 'two' })).json;
    assert.notEqual(two.fingerprint, made.fingerprint);
    assert.equal((await patch(made.id, { data: 'one' })).json.fingerprint, made.fingerprint);
    const plain = await vault.make({ data: 'one' });
    assert.equal('fingerprint' in (await patch(plain.id, { data: 'more' })).json, false);
    await vault.setTenant({ fingerprint_tokens: 'true' });
    assert.match((await patch(plain.id, { metadata: {} })).json.fingerprint, /^\w{43,44}$/);
    await vault.setTenant({ fingerprint_tokens: 'false' });
  });

  it('200 for a patch that says nothing still counts as a change, is logged as one, and is not activity', async () => {
    const { id } = await vault.make({ data: 1 });
    vault.clock.advance(1);
    const active = (await vault.report()).monthly_active_tokens;
    assert.equal((await patch(id, {})).status, 200);
    assert.deepEqual(
      (await vault.logOf(id)).map(({ message }) => message),
      ['Token created', 'Token updated'],
    );
    assert.equal((await vault.report()).monthly_active_tokens, active);
  });

  it('200 for a costly patch that is applied more than once inside: its allowance is that of one', async () => {
    const data = { list: Array.from({ length: 400 }, (_, n) => `item ${n}`) };
    const { id } = await vault.make({ data, search_indexes: ["{{ data.list | join: '-' | size }}"] });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => patch(id, { metadata: { [`k${n}`]: 'v' } })));
    assert.ok(answers.every(({ status }) => status === 200));
  });
});
