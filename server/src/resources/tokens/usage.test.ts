import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sweepExpiredTokens } from '../../vault/expiry/sweep.js';
import { cardNumber, openVault, pathOf, type TestVault, times, vaultOf } from './vault-fixture.js';

const NEARLY_JUNE_MS = Date.UTC(2030, 4, 31, 23, 59, 0);

describe('usage of tokens', () => {
  let root: TestVault;
  let vault: TestVault;
  before(async () => {
    root = await openVault({}, NEARLY_JUNE_MS - 86_400_000);
  });
  after(() => root.app.close());

  const fresh = async () => {
    vault = await vaultOf(root.app, root.clock);
  };
  const active = async () => (await vault.report()).monthly_active_tokens;

  it('counts by type follow creates, deletes and expiry, and last_created_at is that of the newest left', async () => {
    await fresh();
    const [first] = [await vault.make({ data: 1 })];
    vault.clock.advance(1_000);
    const second = await vault.make({ data: 2 });
    vault.clock.advance(1_000);
    const third = await vault.make({ data: 3, expires_at: new Date(vault.clock.nowMs() + 500).toISOString() });
    await vault.make({ type: 'social_security_number', data: '123-45-6789' });
    const metrics = async () => (await vault.report()).metrics_by_type;
    assert.deepEqual((await metrics()).token, { count: 3, last_created_at: third.created_at });
    assert.equal((await metrics()).social_security_number.count, 1);
    vault.clock.advance(500);
    assert.deepEqual((await metrics()).token, { count: 2, last_created_at: second.created_at });
    await sweepExpiredTokens(vault.sweeping, vault.clock.nowMs());
    assert.deepEqual((await metrics()).token, { count: 2, last_created_at: second.created_at });
    await vault.send('DELETE', pathOf(second.id));
    assert.deepEqual((await metrics()).token, { count: 1, last_created_at: first.created_at });
    await vault.send('DELETE', pathOf(first.id));
    assert.deepEqual((await metrics()).token, { count: 0 });
    assert.equal(await active(), 4, 'deleting does not lower what was active');
  });

  it('active tokens are exact after creates, reads, lists, searches, detokenizing and matches all at once', async () => {
    await fresh();
    await vault.setTenant({ deduplicate_tokens: 'true' });
    const tokens = await times(10, (n) => vault.make({ type: 'card', data: { number: cardNumber(n) } }));
    assert.equal(await active(), 10);
    await times(15, (n) =>
      Promise.all([
        vault.send('GET', pathOf(tokens[n % 10].id)),
        vault.send('GET', '/tokens?size=5'),
        vault.send('POST', '/v2/tokens/search', { size: 5 }),
        vault.send(
          'POST',
          '/detokenize',
          tokens.map(({ id }) => `{{ ${id} }}`),
        ),
        vault.make({ type: 'card', data: { number: cardNumber(n) } }),
        vault.send('PATCH', pathOf(tokens[n % 10].id), { metadata: { [`k${n}`]: 'v' } }),
      ]),
    );
    assert.equal(await active(), 15);
    await vault.assertCountersTrue();
  });

  it('over the end of a month: a token of the old one counts once in the new, however it is touched', async () => {
    await fresh();
    const tokens = await times(12, (n) => vault.make({ type: 'card', data: { number: cardNumber(100 + n) } }));
    assert.equal(await active(), 12);
    vault.clock.jumpTo(NEARLY_JUNE_MS + 60_000);
    try {
      assert.equal(await active(), 0);
      const id = (n: number) => pathOf(tokens[n].id);
      await vault.send('PATCH', id(0), { metadata: { a: 'b' } });
      assert.equal(await active(), 0, 'a change alone is no activity');
      await vault.send('HEAD', id(0));
      assert.equal(await active(), 1);
      await times(10, () =>
        Promise.all([
          vault.send('GET', id(0)),
          vault.send('GET', id(1)),
          vault.send('POST', '/detokenize', [
            `{{ ${tokens[1].id} }}`,
            `{{ ${tokens[2].id} }}`,
            `{{ ${tokens[2].id} }}`,
          ]),
          vault.send('GET', `/tokens?id=${tokens[2].id}&id=${tokens[3].id}`),
          vault.send('POST', '/tokens/search', { query: `id:${tokens[3].id} OR id:${tokens[4].id}` }),
        ]),
      );
      assert.equal(await active(), 5);
      const number = cardNumber(105);
      await vault.send('POST', '/tokenize', [
        { type: 'card', data: { number }, deduplicate_token: true, fingerprint_expression: '{{ data.number }}' },
        { type: 'card', data: { number }, deduplicate_token: true, fingerprint_expression: '{{ data.number }}' },
      ]);
      assert.equal(await active(), 6, 'cards of old without a fingerprint do not match');
      await vault.send('DELETE', id(0));
      assert.equal(await active(), 6);
      await vault.assertCountersTrue();
    } finally {
      vault.clock.jumpTo(NEARLY_JUNE_MS - 86_400_000);
    }
    assert.equal(await active(), 12, 'the old month stays as it was');
  });
});
