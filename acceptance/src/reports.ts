import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertConventional, assertNeedsKey, assertNeedsPermission } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, READ } from './resource.js';
import type { Subject } from './subject.js';

interface UsageReport {
  readonly token_report: {
    readonly metrics_by_type: Readonly<Record<string, { readonly count: number; readonly last_created_at?: string }>>;
    readonly included_monthly_active_tokens: number;
    readonly monthly_active_tokens: number;
  };
}

function suite(subject: () => Subject): void {
  const PATH = '/tenants/self/reports/usage';
  const keys = () => subject().keys;

  describe('GET /tenants/self/reports/usage', () => {
    it('200 with exactly the specified fields, the three token types always among them', async () => {
      for (const key of [keys().management, keys().readOnly, keys().otherTenantManagement]) {
        const answer = await subject().call('GET', PATH, { key });
        assert.equal(answer.status, 200);
        assert.deepEqual(answer.as<UsageReport>(), {
          token_report: {
            metrics_by_type: { token: { count: 0 }, bank: { count: 0 }, card: { count: 0 } },
            included_monthly_active_tokens: 1000,
            monthly_active_tokens: 0,
          },
        });
      }
    });

    it('401 without a key or with a wrong one', () => assertNeedsKey(subject().call, 'GET', PATH));

    it('403 without report:read', () => {
      const others = [keys().unrelated, keys().public, keys().private];
      return assertNeedsPermission(subject().call, ['GET', PATH], others, 'report:read');
    });

    it('405 for everything but reading', async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        assert.equal((await subject().call(method, PATH, { key: keys().management })).status, 405, method);
      }
    });

    it('200 for HEAD, with a trailing slash and from another origin', () =>
      assertConventional(subject().call, PATH, keys().readOnly));
  });
}

export const reports: Resource = {
  endpoints: [endpoint(['GET', '/tenants/self/reports/usage'], 'report:read', 200, READ)],
  needsNoTokens: true,
  suite,
};
