import { AppError } from '../../../kernel/errors.js';

export interface OpeningsOptions {
  readonly ofUserMax: number;
  /** So that one tenant leaves places to the others. */
  readonly ofTenantMax: number;
  /** Of all users in this process. */
  readonly max: number;
  readonly what: string;
}

export interface OpeningHolder {
  readonly userId: string;
  readonly tenantId: string;
}

/** Bounds what users keep open. */
export interface Openings {
  /** Gives what releases the place; 503 where there is none. */
  take(holder: OpeningHolder): () => void;
}

const RETRY_SECONDS = 10;

export function createOpenings({ ofUserMax, ofTenantMax, max, what }: OpeningsOptions): Openings {
  const [byUser, byTenant] = [createTally(), createTally()];
  let total = 0;
  return {
    take({ userId, tenantId }) {
      if (byUser.held(userId) >= ofUserMax) {
        throw full(`You have ${ofUserMax} ${what} open already. Close one of them first.`);
      }
      if (byTenant.held(tenantId) >= ofTenantMax) {
        throw full(`This Tenant has ${ofTenantMax} ${what} open already. Try again later.`);
      }
      if (total >= max) throw full(`This server has ${max} ${what} open already. Try again later.`);
      total += 1;
      const giveBack = [byUser.add(userId), byTenant.add(tenantId)];
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        total -= 1;
        for (const back of giveBack) back();
      };
    },
  };
}

/** How many each holds; whoever holds none is forgotten. */
function createTally() {
  const counts = new Map<string, number>();
  const held = (name: string): number => counts.get(name) ?? 0;
  return {
    held,
    add(name: string): () => void {
      counts.set(name, held(name) + 1);
      return () => {
        const left = held(name) - 1;
        if (left === 0) counts.delete(name);
        else counts.set(name, left);
      };
    },
  };
}

function full(detail: string): AppError {
  return new AppError('overloaded', detail, { headers: { 'Retry-After': String(RETRY_SECONDS) } });
}
