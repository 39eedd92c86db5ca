import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';
import {
  cardNumber,
  openVault,
  pathOf,
  rule,
  SAMPLES,
  type TestVault,
  tally,
  times,
  vaultOf,
  writesNothing,
} from './vault-fixture.js';

const MANY = 50;
const messages = async (vault: TestVault, id: string) => tally((await vault.logOf(id)).map(({ message }) => message));

describe('deduplication', () => {
  let root: TestVault;
  let beside: TestApp;
  let vault: TestVault;
  let count = 0;
  before(async () => {
    root = await openVault();
    beside = await startTestApp({ clock: root.clock, beside: { db: root.app.db, rootKey: rootKeyOf(root.app) } });
  });
  after(async () => {
    await beside.close();
    await root.app.close();
  });

  const card = (more: object = {}) => {
    count += 1;
    return { type: 'card', data: { number: cardNumber(count) }, ...more };
  };
  const fresh = async (settings?: Record<string, string>) => {
    vault = await vaultOf(root.app, root.clock);
    if (settings) await vault.setTenant(settings);
  };

  it('201 for all of many creates of one card at once, over two processes: one token, and one stored row', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card();
    await eventually('the other process knows the setting', async () => {
      const probe = card();
      const key = { key: vault.key, body: probe };
      const ids = [await beside.call('POST', '/tokens', key), await beside.call('POST', '/tokens', key)];
      return ids[0]?.json.id === ids[1]?.json.id;
    });
    const answers = await times(2 * MANY, (n) =>
      (n % 2 === 0 ? root.app : beside).call('POST', '/tokens', { key: vault.key, body }),
    );
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 201: 2 * MANY });
    const ids = new Set(answers.map(({ json }) => json.id));
    assert.equal(ids.size, 1);
    const [id = ''] = ids;
    assert.deepEqual(await messages(vault, id), {
      'Token created': 1,
      'Token matched by deduplication': 2 * MANY - 1,
    });
    await vault.assertCountersTrue();
  });

  it('the override of a token and the setting of its tenant: the override decides, else the setting', async () => {
    for (const setting of ['true', 'false']) {
      await fresh({ deduplicate_tokens: setting });
      for (const override of [true, false, null, undefined]) {
        const body = { ...card(), deduplicate_token: override };
        const [first, second] = [await vault.make(body), await vault.make(body)];
        const isExpected = override ?? setting === 'true';
        assert.equal(first.id === second.id, isExpected, `setting ${setting}, override ${override}`);
        assert.equal(second.fingerprint !== undefined, isExpected, 'what is deduplicated has a fingerprint');
        assert.equal('deduplicate_token' in second, false);
      }
    }
  });

  it('within one type only, for every type; the same value under another type is another token', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const ids = new Set<string>();
    for (const [type, { data }] of Object.entries(SAMPLES)) {
      const [first, second] = [await vault.make({ type, data }), await vault.make({ type, data })];
      assert.equal(first.id, second.id, type);
      ids.add(first.id);
    }
    assert.equal(ids.size, Object.keys(SAMPLES).length);
    const number = (await vault.make({ type: 'card_number', data: SAMPLES.card.data.number })).id;
    assert.equal(ids.has(number), false, 'a card and its bare number stay apart');
    assert.notEqual((await vault.make({ data: '1' })).id, (await vault.make({ data: 1 })).id);
  });

  it('never across tenants, and their fingerprints differ', async () => {
    const body = card({ deduplicate_token: true });
    await fresh();
    const ours = await vault.make(body);
    await fresh();
    const theirs = await vault.make(body);
    assert.notEqual(ours.id, theirs.id);
    assert.notEqual(ours.fingerprint, theirs.fingerprint);
  });

  it('200 for one tokenize with the same card many times: one token, every place names it', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card();
    const { status, json } = await vault.send('POST', '/tokenize', { a: [body, body], b: body, c: 'x', d: 'x' });
    assert.equal(status, 200);
    assert.equal(new Set([json.a[0].id, json.a[1].id, json.b.id]).size, 1);
    assert.equal(json.c, json.d);
    assert.deepEqual(await messages(vault, json.b.id), { 'Token created': 1, 'Token matched by deduplication': 2 });
    assert.equal((await vault.report()).monthly_active_tokens, 2);
    await vault.assertCountersTrue();
  });

  it('409 when the same comes again under the id it names: such a create is never led to another token', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card({ id: 'own-name' });
    const answers = await times(20, () => vault.send('POST', '/tokens', body));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 201: 1, 409: 19 });
    assert.equal((await vault.make({ ...body, id: 'second-name' })).id, 'second-name');
    assert.equal((await messages(vault, 'own-name'))['Token created'], 1);
    await vault.assertCountersTrue();
  });

  it('an alias that is taken by another token never leads a duplicate to that token', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card({ id: '{{ data.number | last4 }}' });
    const last4 = body.data.number.slice(-4);
    await vault.make({ id: last4, data: 'in the way' });
    const { json } = await vault.send('POST', '/tokenize', [body, body, { ...body, id: undefined }]);
    const ids = new Set(json.map(({ id }: { id: string }) => id));
    assert.equal(ids.size, 1);
    assert.equal(ids.has(last4), false);
    const answers = await times(20, () => vault.send('POST', '/tokens', body));
    for (const answer of answers) assert.equal(answer.json.id, json[0].id);
    assert.deepEqual((await vault.send('GET', pathOf(last4))).json.data, 'in the way');
    await vault.assertCountersTrue();
  });

  it('many creates at once whose alias is taken: one token, whichever of them made it', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card({ id: '{{ data.number | last4 }}' });
    await vault.make({ id: body.data.number.slice(-4), data: 'in the way' });
    const answers = await times(MANY, () => vault.send('POST', '/tokens', body));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 201: MANY });
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
    await vault.assertCountersTrue();
  });

  it('a match without token:read shows only id, type, tenant and containers, and with it the transform', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card({ metadata: { kept: 'private' } });
    const made = await vault.make(body);
    const creator = await vault.keyWith([], ['token:create']);
    assert.deepEqual(await vault.make(body, creator), {
      id: made.id,
      type: 'card',
      tenant_id: vault.tenant.id,
      containers: ['/pci/high/'],
    });
    const elsewhere = await vault.keyWith([rule('reveal', '/other/', ['token:read'])], ['token:create']);
    assert.equal('metadata' in (await vault.make(body, elsewhere)), false);
    const masked = await vault.make(body, await vault.keyWith([], ['token:create', 'token:read']));
    assert.match(masked.data.number, /^X{12}\d{4}$/);
    assert.equal((await vault.make(body)).data.number, body.data.number);
  });

  it('of duplicates from before the oldest stands for all; the next after a delete or an expiry is new', async () => {
    await fresh();
    const body = card({ fingerprint_expression: '{{ data.number }}' });
    const oldest = await vault.make(body);
    vault.clock.advance(1);
    const younger = await vault.make(body);
    const again = { ...body, deduplicate_token: true };
    assert.equal((await vault.make(again)).id, oldest.id);
    assert.equal((await vault.send('DELETE', pathOf(oldest.id))).status, 204);
    assert.equal((await vault.make(again)).id, younger.id);
    assert.equal((await vault.send('DELETE', pathOf(younger.id))).status, 204);
    const third = await vault.make(again);
    assert.equal([oldest.id, younger.id].includes(third.id), false);
    assert.equal((await vault.make(again)).id, third.id);
    const ending = { ...again, expires_at: new Date(vault.clock.nowMs() + 1_000).toISOString() };
    const fourth = await vault.make(ending);
    assert.notEqual(fourth.id, third.id, 'another end is another token');
    assert.equal((await vault.make(ending)).id, fourth.id);
  });

  it('of many cards at once: each that is deleted is made anew, each that stays still stands for itself', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const bodies = Array.from({ length: 40 }, () => card());
    const makeAll = async () => Promise.all(bodies.map(async (body) => (await vault.make(body)).id));
    const before = await makeAll();
    const isDeleted = (n: number): boolean => n % 2 === 0;
    const gone = before.filter((_, n) => isDeleted(n));
    const statuses = await Promise.all(gone.map(async (id) => (await vault.send('DELETE', pathOf(id))).status));
    assert.deepEqual(new Set(statuses), new Set([204]));
    const text = 'SELECT token_id FROM token_claims WHERE tenant_id = $1';
    const { rows } = await vault.app.db.owner.query(text, [vault.tenant.id]);
    const stayed = before.filter((_, n) => !isDeleted(n));
    assert.deepEqual(rows.map(({ token_id }) => token_id).sort(), stayed.sort());
    const after = await makeAll();
    assert.deepEqual(
      after.map((id, n) => before.includes(id) !== isDeleted(n)),
      bodies.map(() => true),
    );
    assert.equal(new Set([...before, ...after]).size, 60);
    await vault.assertCountersTrue();
  });

  it('creates and deletes of one card at once: never two tokens of it, never a 500', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card();
    const wrong: string[] = [];
    await times(20, async () => {
      for (let turn = 0; turn < 5; turn += 1) {
        const { status, json } = await vault.send('POST', '/tokens', body);
        if (status !== 201) wrong.push(`POST ${status}`);
        else if (turn % 2 === 1) {
          const gone = (await vault.send('DELETE', pathOf(json.id))).status;
          if (gone !== 204 && gone !== 404) wrong.push(`DELETE ${gone}`);
        }
      }
    });
    assert.deepEqual(wrong, []);
    const { total_items } = (await vault.send('GET', '/tokens')).json.pagination;
    assert.ok(total_items <= 1, `${total_items}`);
    await vault.assertCountersTrue();
  });

  it('200 on a patch onto another’s fingerprint: the other is shown, the addressed one stays as it was', async () => {
    await fresh();
    const [one, two] = [card(), card()];
    const first = await vault.make({ ...one, deduplicate_token: true });
    const second = await vault.make({ ...two, metadata: { mine: 'yes' } });
    const patch = { data: one.data, metadata: { mine: 'no' }, deduplicate_token: true };
    const { status, json } = await vault.send('PATCH', pathOf(second.id), patch);
    assert.deepEqual([status, json.id, json.data.number], [200, first.id, one.data.number]);
    const { json: kept } = await vault.send('GET', pathOf(second.id));
    assert.deepEqual([kept.data, kept.metadata, 'modified_at' in kept], [two.data, { mine: 'yes' }, false]);
    assert.equal((await messages(vault, second.id))['Token updated'], undefined);
    assert.equal((await messages(vault, first.id))['Token matched by deduplication'], 1);
    const updater = await vault.keyWith([], ['token:update']);
    await vault.setTenant({ deduplicate_tokens: 'true' });
    const bare = await vault.send('PATCH', pathOf(second.id), patch, { key: updater });
    assert.deepEqual(Object.keys(bare.json).sort(), ['containers', 'id', 'tenant_id', 'type']);
    const off = await vault.send('PATCH', pathOf(second.id), { ...patch, deduplicate_token: false });
    assert.equal(off.json.id, second.id);
  });

  it('200 for patches of many tokens onto one fingerprint at once: one takes it, the others stay', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const tokens = await times(20, () => vault.make(card()));
    const { data } = card();
    const answers = await Promise.all(tokens.map(({ id }) => vault.send('PATCH', pathOf(id), { data })));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 20 });
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
    const numbers = await Promise.all(
      tokens.map(async ({ id }) => (await vault.send('GET', pathOf(id))).json.data.number),
    );
    assert.equal(numbers.filter((number) => number === data.number).length, 1);
    assert.equal(new Set(numbers).size, 20);
  });

  it('a fingerprint given up by a patch is free again, and its new one is taken', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const [one, two] = [card(), card()];
    const { id } = await vault.make(one);
    assert.equal((await vault.send('PATCH', pathOf(id), { data: two.data })).status, 200);
    assert.equal((await vault.make(two)).id, id);
    assert.notEqual((await vault.make(one)).id, id);
  });

  it('403 without a grant on the container even when the same token exists, and nothing is written', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card();
    await vault.make(body);
    const key = await vault.keyWith([rule('reveal', '/other/')]);
    const { status, json } = await writesNothing(vault.app, () => vault.send('POST', '/tokens', body, { key }));
    assert.deepEqual([status, json.code], [403, 'access_denied']);
  });
});
