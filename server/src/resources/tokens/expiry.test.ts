import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR_MS } from '../../jobs/job-record.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';
import { sweepCvcs, sweepExpiredTokens } from '../../vault/expiry/sweep.js';
import type { TokenRow } from '../../vault/stored/row.js';
import { openContent } from '../../vault/stored/seal.js';
import {
  CARD,
  cardNumber,
  MASKED_CARD,
  openVault,
  pathOf,
  type TestVault,
  tally,
  times,
  vaultOf,
} from './vault-fixture.js';

const { cvc: _, ...BARE_CARD } = CARD;

describe('what is over', () => {
  let root: TestVault;
  let vault: TestVault;
  before(async () => {
    root = await openVault();
  });
  after(() => root.app.close());

  const fresh = async () => {
    vault = await vaultOf(root.app, root.clock);
    // What other tests left behind is not to be counted here.
    await sweep();
    await sweepOnce();
  };
  const inMs = (ms: number) => new Date(vault.clock.nowMs() + ms).toISOString();
  const get = (id: string) => vault.send('GET', pathOf(id));
  const messages = async (id: string) => tally((await vault.logOf(id)).map(({ message }) => message));
  const sweep = () => sweepExpiredTokens(vault.sweeping, vault.clock.nowMs());

  async function contentOf(id: string) {
    const { rows } = await vault.app.db.owner.query<TokenRow>('SELECT * FROM tokens WHERE tenant_id = $1 AND id = $2', [
      vault.tenant.id,
      id,
    ]);
    const [row] = rows;
    assert.ok(row);
    return { row, content: openContent(await vault.app.keyStore.keyring.forTenant(vault.tenant.id), row) };
  }

  it('404 from the very moment of expires_at: out of lists, searches, totals, reports and detokenize', async () => {
    await fresh();
    const { id } = await vault.make({ type: 'bank', data: SAMPLE_BANK, expires_at: inMs(10), metadata: { a: 'b' } });
    await vault.make({ type: 'card', data: CARD });
    vault.clock.advance(9);
    assert.equal((await get(id)).status, 200);
    assert.equal((await vault.report()).metrics_by_type.bank.count, 1);
    vault.clock.advance(1);
    assert.equal((await get(id)).status, 404);
    assert.equal((await vault.send('PATCH', pathOf(id), { expires_at: null })).status, 404);
    assert.equal((await vault.send('DELETE', pathOf(id))).status, 404);
    const list = (await vault.send('GET', '/tokens')).json;
    assert.deepEqual([list.pagination.total_items, list.data.length], [1, 1]);
    assert.equal((await vault.send('GET', '/v2/tokens')).json.data.length, 1);
    for (const query of ['type:bank', 'metadata.a:b', `id:${id}`]) {
      const found = (await vault.send('POST', '/tokens/search', { query })).json;
      assert.deepEqual([found.pagination.total_items, found.data], [0, []], query);
      assert.deepEqual((await vault.send('POST', '/v2/tokens/search', { query })).json.data, []);
    }
    assert.equal((await vault.send('POST', '/detokenize', `{{ ${id} }}`)).json.code, 'unknown_token');
    const { bank } = (await vault.report()).metrics_by_type;
    assert.deepEqual(bank, { count: 0 });
  });

  it('the sweeper erases what has expired with its terms and claims, counts it off, and logs it without an actor', async () => {
    await fresh();
    const kept = await vault.make({ type: 'card', data: CARD, expires_at: inMs(20) });
    const { id } = await vault.make({
      type: 'card',
      data: { number: cardNumber(77) },
      expires_at: inMs(10),
      metadata: { a: 'b' },
      search_indexes: ['{{ data.number }}'],
      deduplicate_token: true,
    });
    vault.clock.advance(10);
    await sweep();
    assert.equal(await sweep(), 0);
    for (const table of ['tokens', 'token_terms', 'token_claims']) {
      const { rows } = await vault.app.db.owner.query(`SELECT 1 FROM ${table} WHERE tenant_id = $1`, [vault.tenant.id]);
      assert.equal(rows.length, table === 'tokens' ? 1 : 0, table);
    }
    const entry = (await vault.logOf(id)).find(({ operation }) => operation === 'delete');
    assert.deepEqual(entry && [entry.message, entry.entity_type, entry.actor_id], ['Token expired', 'card', null]);
    assert.equal((await get(kept.id)).status, 200);
    await vault.assertCountersTrue();
  });

  it('400 for a moment that is over or is now; 200 when a patch moves it or takes it away', async () => {
    await fresh();
    for (const expires_at of [inMs(0), inMs(-1), '2030-05-13', '1/1/2020']) {
      assert.equal((await vault.send('POST', '/tokens', { data: 1, expires_at })).status, 400, expires_at);
    }
    const { id } = await vault.make({ data: 1, expires_at: inMs(10) });
    assert.equal('expires_at' in (await vault.send('PATCH', pathOf(id), { expires_at: null })).json, false);
    vault.clock.advance(10);
    assert.equal((await get(id)).status, 200);
    assert.equal((await vault.send('PATCH', pathOf(id), { expires_at: inMs(5) })).status, 200);
    vault.clock.advance(5);
    assert.equal((await get(id)).status, 404);
  });

  it('sweepers of two processes at once, and with deletes under way, erase and log each token once', async (t) => {
    await fresh();
    const rootKey = rootKeyOf(root.app);
    const beside = await startTestApp({ clock: root.clock, beside: { db: root.app.db, rootKey } });
    t.after(() => beside.close());
    const tokens = await times(60, (n) => vault.make({ data: n, expires_at: inMs(60_000 + (n % 2)) }));
    vault.clock.advance(60_000);
    const nowMs = vault.clock.nowMs();
    await Promise.all([
      ...[vault.app, vault.app, beside, beside].map(({ database }) =>
        sweepExpiredTokens({ ...vault.sweeping, database }, nowMs),
      ),
      ...tokens.map(({ id }) => vault.send('DELETE', pathOf(id))),
    ]);
    vault.clock.advance(1);
    await times(4, () => sweep());
    for (const { id } of tokens) {
      const ends = (await vault.logOf(id)).filter(({ operation }) => operation === 'delete');
      assert.equal(ends.length, 1, JSON.stringify(ends));
    }
    await vault.assertCountersTrue();
  });

  it('a sweep that is rolled back leaves everything, and the next one does it once', async () => {
    await fresh();
    const { id } = await vault.make({ data: 1, expires_at: inMs(5) });
    vault.clock.advance(5);
    await vault.app.db.owner.query('ALTER TABLE token_groups ADD CONSTRAINT stuck CHECK (count > 0) NOT VALID');
    try {
      await assert.rejects(sweep());
    } finally {
      await vault.app.db.owner.query('ALTER TABLE token_groups DROP CONSTRAINT stuck');
    }
    assert.deepEqual(await messages(id), { 'Token created': 1 });
    await sweep();
    assert.deepEqual(await messages(id), { 'Token created': 1, 'Token expired': 1 });
    await vault.assertCountersTrue();
  });

  it('a cvc is shown within its hour as the transform says, and gone at 3600 s from every answer', async () => {
    await fresh();
    const masking = await vault.keyWith([], ['token:read']);
    const { id, data } = await vault.make({ type: 'card', data: CARD, mask: { code: '{{ data.cvc }}', n: 1 } });
    const plain = await vault.make({ type: 'card', data: CARD });
    assert.deepEqual(data, CARD);
    vault.clock.advance(HOUR_MS - 1);
    assert.deepEqual((await get(id)).json.data, CARD);
    const seen = async (of: string) => (await vault.send('GET', pathOf(of), undefined, { key: masking })).json.data;
    assert.deepEqual(await seen(id), { code: '123', n: 1 });
    assert.deepEqual(await seen(plain.id), MASKED_CARD);
    vault.clock.advance(1);
    assert.deepEqual((await get(id)).json.data, BARE_CARD);
    assert.equal(JSON.stringify(await seen(id)).includes('123'), false);
    for (const path of ['/tokens', '/v2/tokens']) {
      for (const token of (await vault.send('GET', path)).json.data) assert.deepEqual(token.data, BARE_CARD);
    }
    const found = await vault.send('POST', '/v2/tokens/search', {});
    for (const token of found.json.data) assert.deepEqual(token.data, BARE_CARD);
    const expressions = [`{{ ${id} }}`, `{{ token: ${id} | json: '$.data' }}`];
    for (const value of (await vault.send('POST', '/detokenize', expressions)).json) assert.deepEqual(value, BARE_CARD);
  });

  it('a patch after the hour does not bring the code back; one within it leaves the hour; a new code has its own', async () => {
    await fresh();
    const { id } = await vault.make({ type: 'card', data: CARD });
    vault.clock.advance(HOUR_MS / 2);
    await vault.send('PATCH', pathOf(id), { data: { extra: 1 } });
    vault.clock.advance(HOUR_MS / 2);
    assert.deepEqual((await get(id)).json.data, { ...BARE_CARD, extra: 1 });
    const patched = await vault.send('PATCH', pathOf(id), { metadata: { a: 'b' } });
    assert.deepEqual(patched.json.data, { ...BARE_CARD, extra: 1 });
    assert.equal('cvc' in ((await contentOf(id)).content.data as object), false, 'nor is it stored again');
    await vault.send('PATCH', pathOf(id), { data: { cvc: 4321 } });
    vault.clock.advance(HOUR_MS - 1);
    assert.equal((await get(id)).json.data.cvc, 4321);
    vault.clock.advance(1);
    assert.equal((await get(id)).json.data.cvc, undefined);
  });

  it('a patch that removes and one that repeats the code: gone at once, and a new hour', async () => {
    await fresh();
    const { id } = await vault.make({ type: 'card', data: CARD });
    vault.clock.advance(HOUR_MS - 1);
    assert.equal((await vault.send('PATCH', pathOf(id), { data: { cvc: CARD.cvc } })).json.data.cvc, CARD.cvc);
    vault.clock.advance(HOUR_MS - 1);
    assert.equal((await get(id)).json.data.cvc, CARD.cvc);
    assert.equal((await vault.send('PATCH', pathOf(id), { data: { cvc: null } })).json.data.cvc, undefined);
    const { row, content } = await contentOf(id);
    assert.equal(row.cvc_expires_at, null);
    assert.deepEqual(content.data, BARE_CARD);
  });

  it('no hash of a code outlives its hour behind a costly neighbour', async () => {
    await fresh();
    const step = "{{ 'a' | upcase | append: 'b' | slice: 0, 1 | append: data.number | slice: 0, 1 }}";
    const costly = `{% for i in (1..340) %}${step}{% endfor %}{{ data.number | slice: 0, 1 }}`;
    const { id } = await vault.make({
      type: 'card',
      data: CARD,
      search_indexes: [costly, '{{ data.cvc }}', '{{ data.number | last4 }}'],
      fingerprint_expression: '{{ data.number }}{{ data.cvc }}',
    });
    vault.clock.advance(HOUR_MS);
    await sweepOnce();
    const find = async (query: string) =>
      (await vault.send('POST', '/tokens/search', { query })).json.pagination.total_items;
    assert.deepEqual([await find('data:123'), await find('data:4242')], [0, 1]);
    assert.equal((await contentOf(id)).row.fingerprint, null);
  });

  it('the sweeper takes the code out of the sealed record and out of the index, logs it without an actor, once', async () => {
    await fresh();
    const search_indexes = ['{{ data.cvc }}', '{{ data.number | last4 }}'];
    const { id } = await vault.make({ type: 'card', data: CARD, search_indexes, metadata: { a: 'b' } });
    const find = async (query: string) =>
      (await vault.send('POST', '/tokens/search', { query })).json.pagination.total_items;
    assert.deepEqual([await find('data:123'), await find('data:4242'), await find('metadata.a:b')], [1, 1, 1]);
    vault.clock.advance(HOUR_MS);
    await Promise.all([sweepOnce(), sweepOnce()]);
    const { row, content } = await contentOf(id);
    assert.deepEqual(content.data, BARE_CARD);
    assert.equal(row.cvc_expires_at, null);
    assert.deepEqual([await find('data:123'), await find('data:4242'), await find('metadata.a:b')], [0, 1, 1]);
    const entries = (await vault.logOf(id)).filter(({ operation }) => operation === 'update');
    assert.deepEqual(
      entries.map(({ message, actor_id }) => [message, actor_id]),
      [['Card verification code removed', null]],
    );
    assert.equal((await get(id)).json.modified_at, undefined);
    const patched = await vault.send('PATCH', pathOf(id), { metadata: { a: 'c' } });
    assert.equal(patched.status, 200, 'an index that lost its value does not stand in the way of a change');
    assert.equal(await find('metadata.a:c'), 1);
  });

  it('a fingerprint made of the code goes with it, and does not stand in the way of a change', async () => {
    await fresh();
    const make = { type: 'card', data: CARD, fingerprint_expression: '{{ data.number }}{{ data.cvc }}' };
    const { id, fingerprint } = await vault.make(make);
    const other = await vault.make({ ...make, fingerprint_expression: '{{ data.number }}' });
    assert.equal(typeof fingerprint, 'string');
    vault.clock.advance(HOUR_MS);
    await sweepOnce();
    assert.equal((await get(id)).json.fingerprint, undefined);
    assert.equal((await get(other.id)).json.fingerprint, other.fingerprint);
    const patched = await vault.send('PATCH', pathOf(id), { metadata: { a: 'c' } });
    assert.equal(patched.status, 200, patched.text);
  });

  it('a damaged card does not keep the sweeper from the codes of others', async () => {
    await fresh();
    const damaged = await vault.make({ type: 'card', data: CARD });
    const { id } = await vault.make({ type: 'card', data: CARD });
    await vault.app.db.owner.query(`UPDATE tokens SET sealed = '\\x00' WHERE id = $1`, [damaged.id]);
    vault.clock.advance(HOUR_MS);
    await sweepOnce();
    assert.deepEqual((await contentOf(id)).content.data, BARE_CARD);
    await vault.app.db.owner.query('DELETE FROM tokens WHERE id = $1', [damaged.id]);
  });

  function sweepOnce(): Promise<number> {
    return sweepCvcs(vault.sweeping, vault.clock.nowMs());
  }
});

const SAMPLE_BANK = { routing_number: '021000021', account_number: '00123456789' };
