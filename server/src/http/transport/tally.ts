import { overloaded } from '../../kernel/errors.js';
import type { RequestContext } from './context.js';

/** Who takes something of what all share: a client, on behalf of a tenant. */
export type Sender = Pick<RequestContext, 'limitKey' | 'principal' | 'hasPlace'>;

/** Counts what is taken, and refuses when a client, a tenant or everybody together has too much. */
export interface Tally {
  /** Throws 503 when it would be too much. */
  add(sender: Sender, count: number): void;
  remove(sender: Sender, count: number): void;
  /**
   * Counts what somebody without a key has for this tenant, from now on and until it is moved or removed under that name. Throws 503,
   * and changes nothing, when the tenant or its strangers would have too much.
   */
  moveTo(tenantId: string, count: number): void;
  removeFrom(tenantId: string, sender: Pick<Sender, 'limitKey'>, count: number): void;
  readonly total: () => number;
}

/** A key that is in every browser is used from many addresses: its tenant has no more than this part of everything. */
const TENANT_PART = 1 / 4;
/** Of the tenant's part. Whoever needs no key must not use up what those with one need. */
const STRANGERS_PART = 1 / 2;
/** Those of whom nothing is known yet, of all tenants together. */
const NOBODY = '';

export function createTally(max: number, clientMax: number): Tally {
  const tenantMax = max * TENANT_PART;
  const byClient = new Map<string, number>();
  const byTenant = new Map<string, number>();
  /** The part of strangers in it. */
  const strangers = new Map<string, number>();
  let total = 0;

  return {
    total: () => total,
    add({ limitKey, principal }, count) {
      const tenantId = principal?.tenantId ?? NOBODY;
      const ofClient = (byClient.get(limitKey) ?? 0) + count;
      const ofTenant = (byTenant.get(tenantId) ?? 0) + count;
      if (total + count > max || ofClient > clientMax || ofTenant > tenantMax) throw overloaded();
      total += count;
      byClient.set(limitKey, ofClient);
      byTenant.set(tenantId, ofTenant);
    },
    remove({ limitKey, principal }, count) {
      if (count === 0) return;
      total -= count;
      subtract(byClient, limitKey, count);
      subtract(byTenant, principal?.tenantId ?? NOBODY, count);
    },
    moveTo(tenantId, count) {
      const ofTenant = (byTenant.get(tenantId) ?? 0) + count;
      const ofStrangers = (strangers.get(tenantId) ?? 0) + count;
      if (ofTenant > tenantMax || ofStrangers > tenantMax * STRANGERS_PART) throw overloaded();
      subtract(byTenant, NOBODY, count);
      byTenant.set(tenantId, ofTenant);
      strangers.set(tenantId, ofStrangers);
    },
    removeFrom(tenantId, { limitKey }, count) {
      total -= count;
      subtract(byClient, limitKey, count);
      subtract(byTenant, tenantId, count);
      subtract(strangers, tenantId, count);
    },
  };
}

/** What is not counted any more leaves no entry behind. */
export function subtract(counts: Map<string, number>, key: string, count: number): void {
  const left = (counts.get(key) ?? count) - count;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
