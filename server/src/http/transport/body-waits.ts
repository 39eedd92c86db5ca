import { overloaded } from '../../kernel/errors.js';
import type { RequestContext } from './context.js';

/** Whoever sends a body: a client, on behalf of a tenant. */
export type Sender = Pick<RequestContext, 'limitKey' | 'principal' | 'hasPlace'>;

/** Requests whose body is still on its way. */
export interface BodyWaits {
  /** Waits for a body, and then for a place; refuses when a client, a tenant or everybody together waits for too many. */
  during<T>(sender: Sender, read: () => Promise<T>): Promise<T>;
  /** Counts bytes that have arrived and are held; refuses when a client, a tenant or everybody has sent too many. */
  hold(sender: Sender, bytes: number): void;
  release(sender: Sender, bytes: number): void;
  readonly waiting: () => number;
}

export interface BodyWaitsOptions {
  readonly waitingMax: number;
  readonly onWait: (sender: Sender) => void;
  /** Told of a body that is there; what it returns is waited for. */
  readonly onArrived: (sender: Sender) => Promise<void> | undefined;
}

/** One address that holds back many bodies must not use up the places of all others. */
const PER_CLIENT_MAX = 200;
/** Bytes of bodies that are on their way or wait for their turn. */
const BYTES_MAX = 33_554_432;
const BYTES_PER_CLIENT_MAX = BYTES_MAX / 2;
/** A key that is in every browser is used from many addresses: its tenant has no more than this part of everything. */
const TENANT_PART = 1 / 4;

export function createBodyWaits({ waitingMax, onWait, onArrived }: BodyWaitsOptions): BodyWaits {
  const places = createTally(waitingMax, PER_CLIENT_MAX);
  const bytesHeld = createTally(BYTES_MAX, BYTES_PER_CLIENT_MAX);

  return {
    waiting: places.total,
    hold: bytesHeld.add,
    release: bytesHeld.remove,
    async during(sender, read) {
      places.add(sender, 1);
      onWait(sender);
      try {
        const body = await read();
        const placed = onArrived(sender);
        if (placed) await placed;
        return body;
      } finally {
        places.remove(sender, 1);
      }
    },
  };
}

interface Tally {
  /** Throws when it would be too much. */
  add(sender: Sender, count: number): void;
  remove(sender: Sender, count: number): void;
  readonly total: () => number;
}

function createTally(max: number, clientMax: number): Tally {
  const tenantMax = max * TENANT_PART;
  const byClient = new Map<string, number>();
  const byTenant = new Map<string, number>();
  let total = 0;

  return {
    total: () => total,
    add({ limitKey, principal }, count) {
      const tenantId = principal?.tenantId ?? '';
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
      subtract(byTenant, principal?.tenantId ?? '', count);
    },
  };
}

function subtract(counts: Map<string, number>, key: string, count: number): void {
  const left = (counts.get(key) ?? count) - count;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
