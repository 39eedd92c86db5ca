import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cardNumber, openVault, pathOf, rule, type TestVault, times, vaultOf } from './vault-fixture.js';

const BARE = ['containers', 'id', 'tenant_id', 'type'];

describe('whom deduplication tells what, and what it takes for the same', () => {
  let root: TestVault;
  let vault: TestVault;
  let count = 1_000;
  before(async () => {
    root = await openVault();
  });
  after(() => root.app.close());

  const card = (more: object = {}) => {
    count += 1;
    return { type: 'card', data: { number: cardNumber(count) }, ...more };
  };
  const fresh = async (settings?: Record<string, string>) => {
    vault = await vaultOf(root.app, root.clock);
    if (settings) await vault.setTenant(settings);
  };
  const publicKey = () => vault.app.makeKey(vault.tenant.id, 'public', ['token:create', 'token:update'], []);
  const sessionKey = async () => {
    const { json } = await vault.app.call('POST', '/sessions', { key: await publicKey() });
    const grant = { nonce: json.nonce, permissions: ['token:create', 'token:update', 'token:read'] };
    assert.equal((await vault.send('POST', '/sessions/authorize', grant)).status, 200);
    return json.session_key as string; // A text by the contract.
  };

  it('deduplicate_token: true is ignored for who may not read the containers in the clear, unless the tenant deduplicates', async () => {
    await fresh();
    const body = card();
    const made = await vault.make({ ...body, deduplicate_token: true });
    const masking = await vault.keyWith([], ['token:create', 'token:read']);
    const partly = await vault.keyWith([rule('reveal', '/a/')], ['token:create', 'token:read']);
    for (const key of [masking, partly, await publicKey(), await sessionKey()]) {
      const answer = await vault.make({ ...body, deduplicate_token: true }, key);
      assert.notEqual(answer.id, made.id, 'the id does not tell that the card is there');
      assert.equal('fingerprint' in answer, false);
    }
    const both = { ...body, containers: ['/a/', '/b/'], deduplicate_token: true };
    assert.notEqual((await vault.make(both, partly)).id, (await vault.make(both, partly)).id);
    const inA = { ...body, containers: ['/a/'], deduplicate_token: true };
    assert.equal((await vault.make(inA, partly)).id, (await vault.make(inA, partly)).id);
    await vault.setTenant({ deduplicate_tokens: 'true' });
    assert.equal((await vault.make(body, masking)).id, made.id);
  });

  it('to public keys and sessions every create under deduplication answers the same four fields, match or not', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const known = card({ containers: ['/z/', '/a/'], metadata: { secret: 'of another shopper' } });
    const made = await vault.make(known);
    for (const key of [await publicKey(), await sessionKey()]) {
      const unknown = { ...card(), containers: ['/z/', '/a/'] };
      for (const body of [{ ...known, containers: ['/a/', '/z/'] }, unknown, unknown]) {
        const answer = await vault.make(body, key);
        assert.deepEqual(Object.keys(answer).sort(), BARE);
        assert.deepEqual(answer.containers, ['/a/', '/z/']);
      }
      const { json } = await vault.send('POST', '/tokenize', { k: known, u: card() }, { key });
      assert.deepEqual(
        [json.k, json.u].map((each) => Object.keys(each).sort()),
        [BARE, BARE],
      );
      assert.equal(json.k.id, made.id);
      const plain = await vault.make({ ...known, deduplicate_token: false }, key);
      assert.ok('created_at' in plain);
    }
  });

  it('a token planted in another container, under another mask or with another end stands for nobody else', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const body = card();
    const stranger = await publicKey();
    const planted = await Promise.all(
      [
        { containers: ['/stolen/'] },
        { containers: ['/pci/high/', '/stolen/'] },
        { mask: { number: '{{ data.number }}' } },
        { expires_at: new Date(vault.clock.nowMs() + 60_000).toISOString() },
        { id: 'planted-name' },
      ].map((more) => vault.make({ ...body, ...more }, stranger)),
    );
    const [, , , , named] = planted;
    assert.equal((await vault.send('DELETE', pathOf(named.id))).status, 204);
    const made = await vault.make(body);
    assert.equal(
      planted.some(({ id }) => id === made.id),
      false,
    );
    assert.equal((await vault.make({ ...body, containers: ['/pci/high/'] })).id, made.id);
    assert.equal((await vault.make({ ...body, mask: made.mask })).id, made.id, 'the mask of the type, written out');
    const masked = { ...body, mask: { b: 'x', a: '{{ data.number | last4 }}' } };
    const own = await vault.make(masked);
    assert.notEqual(own.id, made.id);
    assert.equal((await vault.make({ ...body, mask: { a: '{{ data.number | last4 }}', b: 'x' } })).id, own.id);
    assert.equal(
      (await vault.make({ ...body, containers: ['/stolen/', '/pci/high/'] })).id,
      planted[1].id,
      'a set has no order',
    );
  });

  it('a PATCH by a public key or session is led to no other token; a move or a new mask asks anew who is there', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const [one, two] = [card(), card()];
    const first = await vault.make(one);
    const second = await vault.make(two);
    for (const key of [await publicKey(), await sessionKey()]) {
      const { status, json } = await vault.send('PATCH', pathOf(second.id), { data: one.data }, { key });
      assert.deepEqual([status, json.id], [200, second.id]);
    }
    const third = await vault.make({ ...one, containers: ['/c/'] });
    assert.notEqual(third.id, first.id);
    const moved = await vault.send('PATCH', pathOf(third.id), { containers: ['/pci/high/'] });
    assert.deepEqual([moved.status, moved.json.id], [200, first.id]);
    assert.deepEqual((await vault.send('GET', pathOf(third.id))).json.containers, ['/c/'], 'the addressed one stays');
    const fourth = await vault.make({ ...one, mask: { a: 'b' } });
    const unmasked = await vault.send('PATCH', pathOf(fourth.id), { mask: null });
    assert.equal(unmasked.json.id, first.id);
    assert.equal((await vault.send('PATCH', pathOf(first.id), { containers: ['/d/'] })).json.id, first.id);
    assert.equal(
      (await vault.make({ ...one, containers: ['/d/'] })).id,
      first.id,
      'it stands for the place it moved to',
    );
    assert.notEqual((await vault.make(one)).id, first.id, 'and no longer for the one it left');
  });

  it('a token planted under a fingerprint expression of its own stands for nobody’s value', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const [mine, victims] = [
      { routing_number: '011401533', account_number: '66666666' },
      { routing_number: '021000021', account_number: '00123456789' },
    ];
    const planted = await vault.make(
      { type: 'bank', data: mine, fingerprint_expression: '00123456789|021000021' },
      await publicKey(),
    );
    const made = await vault.make({ type: 'bank', data: victims });
    assert.notEqual(made.id, planted.id);
    assert.deepEqual(made.data, victims);
    const written = '{{ data.account_number }}|{{ data.routing_number }}';
    const same = await vault.make({ type: 'bank', data: victims, fingerprint_expression: written });
    assert.equal(same.id, made.id, 'the expression of the type, written out');
    const changed = await vault.send('PATCH', pathOf(made.id), {
      fingerprint_expression: 'x{{ data.account_number }}',
    });
    assert.equal(changed.json.id, made.id);
    assert.notEqual((await vault.make({ type: 'bank', data: victims })).id, made.id);
  });

  it('a patch that leads to another token is in the log of both', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const [one, two] = [card(), card()];
    const first = await vault.make(one);
    const second = await vault.make(two);
    const { json } = await vault.send('PATCH', pathOf(second.id), { data: one.data });
    assert.equal(json.id, first.id);
    for (const { id } of [first, second]) {
      const messages = (await vault.logOf(id)).map(({ message }) => message);
      assert.deepEqual(messages.sort(), ['Token created', 'Token matched by deduplication']);
    }
  });

  it('an id of their own making does not tell strangers of a match; others are led there all the same', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const known = card();
    const made = await vault.make(known);
    for (const key of [await publicKey(), await sessionKey()]) {
      const { id } = await vault.make({ ...known, id: `{{ 'tag-${key.slice(-6)}' }}` }, key);
      assert.equal(id, `tag-${key.slice(-6)}`);
    }
    assert.equal((await vault.make({ ...known, id: "{{ 'tag-own' }}" })).id, made.id);
  });

  it('tokens from before masks were compared: found where the mask is the same, passed by where it is not', async () => {
    await fresh({ deduplicate_tokens: 'true' });
    const { owner } = vault.app.db;
    const [plain, masked] = [card(), card()];
    const old = await vault.make(plain);
    const evil = await vault.make({ ...masked, mask: { number: '{{ data.number }}' } });
    await owner.query('UPDATE tokens SET match_digest = NULL WHERE tenant_id = $1', [vault.tenant.id]);
    await owner.query('DELETE FROM token_claims WHERE tenant_id = $1', [vault.tenant.id]);
    assert.equal((await vault.make(plain)).id, old.id);
    const answers = await times(20, () => vault.make(masked));
    const ids = new Set(answers.map(({ id }) => id));
    assert.equal(ids.size, 1);
    assert.equal(ids.has(evil.id), false);
    const updated = await vault.make(card());
    const matched = await vault.send('PATCH', pathOf(updated.id), { data: plain.data });
    assert.equal(matched.json.id, old.id);
  });
});
