import { decideAll } from '../../access/decide.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { createBudget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import type { Opener } from '../open/open.js';
import { isStranger } from '../present/answer.js';
import type { Fingerprints } from '../present/present.js';
import type { Preparation, TokenSettings } from './prepare.js';

export interface PrepareOptions {
  readonly opener: Opener;
  readonly expressions: Expressions;
  readonly fingerprints: Fingerprints;
  readonly settingsOf: (tenantId: string) => TokenSettings | Promise<TokenSettings>;
}

/**
 * What every change needs: the tenant's keys and wishes, and a bound on what expressions may cost. Both are remembered as a
 * rule, so as a rule nothing is waited for.
 */
export function prepareFor(
  options: PrepareOptions,
  principal: Principal,
  auditContext: AuditContext,
): Preparation | Promise<Preparation> {
  const { tenantId } = principal;
  const { expressions, fingerprints } = options;
  const build = (keys: TenantKeys, settings: TokenSettings): Preparation => ({
    tenantId,
    auditContext,
    keys,
    settings,
    expressions,
    fingerprints,
    isStranger: isStranger(principal),
    mayCompare: (containers) => decideAll(principal, 'token:read', { id: '', containers }) === 'reveal',
    budget: createBudget(),
  });
  const keys = options.opener.keysOf(tenantId);
  const settings = options.settingsOf(tenantId);
  if (!(keys instanceof Promise) && !(settings instanceof Promise)) return build(keys, settings);
  return Promise.all([keys, settings]).then(([known, wishes]) => build(known, wishes));
}
