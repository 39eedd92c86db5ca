import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';
import { CARD, openVault, pathOf, type TestVault, tally, times, writesNothing } from './vault-fixture.js';

const keyed = (key: string) => ({ headers: { 'SVC-IDEMPOTENCY-KEY': key } });

describe('token calls with an idempotency key', () => {
  let vault: TestVault;
  let beside: TestApp;
  before(async () => {
    vault = await openVault();
    beside = await startTestApp({ clock: vault.clock, beside: { db: vault.app.db, rootKey: rootKeyOf(vault.app) } });
  });
  after(async () => {
    await beside.close();
    await vault.app.close();
  });

  it('the same 201 again for the same key: no second token, log entry or count, also for another body', async () => {
    const first = await vault.send('POST', '/tokens', { type: 'card', data: CARD }, keyed('create-1'));
    for (const body of [{ type: 'card', data: CARD }, { data: 'other' }, 'nonsense']) {
      const again = await writesNothing(vault.app, () => vault.send('POST', '/tokens', body, keyed('create-1')));
      assert.deepEqual([again.status, again.text], [201, first.text]);
      assert.notEqual(again.headers.get('svc-trace-id'), first.headers.get('svc-trace-id'));
    }
    const { json } = await beside.call('POST', '/tokens', { key: vault.key, body: {}, ...keyed('create-1') });
    assert.equal(json.id, first.json.id);
  });

  it('50 at once over two processes: one effect, and everybody gets it or a 409 that says to wait', async () => {
    const before = (await vault.report()).metrics_by_type.token.count;
    const options = { key: vault.key, body: { data: 'raced' }, ...keyed('race') };
    const answers = await times(50, (n) => (n % 2 ? beside : vault.app).call('POST', '/tokens', options));
    const ids = new Set(answers.filter(({ status }) => status === 201).map(({ json }) => json.id));
    assert.equal(ids.size, 1);
    const others = answers.filter(({ status }) => status !== 201).map(({ status, json }) => `${status} ${json.code}`);
    assert.deepEqual(
      Object.keys(tally(others)).filter((story) => story !== '409 idempotency_in_flight'),
      [],
    );
    const report = await vault.report();
    assert.equal(report.metrics_by_type.token.count, before + 1);
    await vault.assertCountersTrue();
  });

  it('a patch and a tokenize are repeated without a second effect; after the patch others may change it', async () => {
    const { id } = await vault.make({ data: { n: 1 } });
    const first = await vault.send('PATCH', pathOf(id), { data: { n: 2 } }, keyed('patch-1'));
    await vault.send('PATCH', pathOf(id), { data: { n: 3 } });
    const again = await writesNothing(vault.app, () =>
      vault.send('PATCH', pathOf(id), { data: { n: 2 } }, keyed('patch-1')),
    );
    assert.equal(again.text, first.text);
    assert.equal((await vault.send('GET', pathOf(id))).json.data.n, 3);
    const made = await vault.send('POST', '/tokenize', ['a', { type: 'card', data: CARD }], keyed('tokenize-1'));
    const remade = await writesNothing(vault.app, () => vault.send('POST', '/tokenize', ['b'], keyed('tokenize-1')));
    assert.equal(remade.text, made.text);
  });

  it('searches and detokenize ignore it, whatever it says: each is done anew, logged anew, and nothing is kept', async () => {
    const { id } = await vault.make({ data: 'before' });
    const look = async (path: string, body: unknown, key: string) => {
      const { status, text } = await vault.send('POST', path, body, keyed(key));
      assert.equal(status, 200);
      return text;
    };
    const kept = async () => (await vault.app.db.owner.query('SELECT FROM idempotency_keys')).rowCount;
    const before = await kept();
    for (const [path, body] of [
      ['/tokens/search', { query: `id:${id}` }],
      ['/v2/tokens/search', { query: `id:${id}` }],
      ['/detokenize', [`{{ ${id} }}`]],
    ] as const) {
      for (const key of ['look-1', 'no key at all']) {
        await vault.send('PATCH', pathOf(id), { data: 'before' });
        const entries = (await vault.logOf(id)).length;
        assert.match(await look(path, body, key), /"before"/);
        await vault.send('PATCH', pathOf(id), { data: 'since' });
        assert.match(await look(path, body, key), /"since"/);
        assert.equal((await vault.logOf(id)).length, entries + 3);
      }
    }
    assert.equal(await kept(), before);
  });

  it('a failure is not kept: the next try with the same key does the work', async () => {
    await vault.make({ id: 'blocker', data: 1 });
    const body = { id: 'blocker', data: 2 };
    assert.equal((await vault.send('POST', '/tokens', body, keyed('second-try'))).status, 409);
    await vault.send('DELETE', '/tokens/blocker');
    assert.equal((await vault.send('POST', '/tokens', body, keyed('second-try'))).status, 201);
  });

  it('a commit that fails leaves neither token nor kept answer, so that the key is free', async () => {
    const { owner } = vault.app.db;
    await owner.query('ALTER TABLE idempotency_keys ADD CONSTRAINT nothing_fits CHECK (false) NOT VALID');
    try {
      const { status } = await writesNothing(vault.app, () =>
        vault.send('POST', '/tokens', { data: 'half' }, keyed('half-done')),
      );
      assert.equal(status, 500);
    } finally {
      await owner.query('ALTER TABLE idempotency_keys DROP CONSTRAINT nothing_fits');
    }
    const { status, json } = await vault.send('POST', '/tokens', { data: 'whole' }, keyed('half-done'));
    assert.deepEqual([status, json.data], [201, 'whole']);
    const rows = await owner.query(`SELECT 1 FROM logs WHERE entity_id = $1`, [json.id]);
    assert.equal(rows.rows.length, 1);
  });

  it('a replay of a card still shows what the first answer showed, and its row does not', async () => {
    const { text } = await vault.send('POST', '/tokens', { type: 'card', data: CARD }, keyed('sealed'));
    const { rows } = await vault.app.db.owner.query<{ row: string }>(
      'SELECT t::text AS row FROM idempotency_keys AS t',
    );
    assert.ok(text.includes(CARD.number));
    assert.ok(rows.every(({ row }) => !row.includes(Buffer.from(CARD.number).toString('hex'))));
  });
});
