import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Subject } from './subject.js';
import type { Token } from './vault.js';
import { CARD, openVault, post } from './vault.js';

interface Metrics {
  readonly count: number;
  readonly last_created_at?: string;
}

interface TokenReport {
  readonly metrics_by_type: Readonly<Record<string, Metrics>>;
  readonly monthly_active_tokens: number;
}

export function usage(subject: () => Subject): void {
  const report = async (): Promise<TokenReport> => {
    const { call, keys } = subject();
    const answer = await call('GET', '/tenants/self/reports/usage', { key: keys.readOnly });
    return answer.as<{ token_report: TokenReport }>().token_report;
  };

  describe('the usage report', () => {
    it('follows every act at once: counts by type, the newest of each, each token active once', async () => {
      const vault = await openVault(subject());
      const { call } = subject();
      const first = await report();
      const count = ({ metrics_by_type }: TokenReport, type: string) => metrics_by_type[type]?.count ?? 0;
      const card = await post<Token>(call, vault.full, '/tokens', { type: 'card', data: CARD });
      await post(call, vault.full, '/tokenize', ['one', 'two']);
      const made = await report();
      assert.equal(count(made, 'card'), count(first, 'card') + 1);
      assert.equal(count(made, 'token'), count(first, 'token') + 2);
      assert.equal(made.metrics_by_type.card?.last_created_at, card.created_at);
      assert.equal(made.monthly_active_tokens, first.monthly_active_tokens + 3);
      await call('GET', `/tokens/${card.id}`, { key: vault.full });
      await call('POST', '/tokens/search', { key: vault.full, body: { query: `id:${card.id}` } });
      await call('PATCH', `/tokens/${card.id}`, { key: vault.full, body: { metadata: { a: 'b' } } });
      assert.deepEqual(await report(), made, 'a token is active once, however often it is seen');
      await call('DELETE', `/tokens/${card.id}`, { key: vault.full });
      const { metrics_by_type, monthly_active_tokens } = await report();
      assert.equal(metrics_by_type.card?.count, count(first, 'card'));
      assert.notEqual(metrics_by_type.card?.last_created_at, card.created_at);
      assert.equal(monthly_active_tokens, made.monthly_active_tokens, 'deleting does not lower it');
    });
  });
}
