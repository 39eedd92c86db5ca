import type { Clock } from '../kernel/clock.js';
import { TenantTurns } from './tenant-turns.js';

export interface ReadTurnsOptions {
  readonly clock: Clock;
  /** Connections for reads. */
  readonly readMax: number;
  /** How many of them shared reads use. */
  readonly sparedForShared: number;
  /** How long a read may wait for its turn; 5 s without it. */
  readonly waitMaxMs: number | undefined;
}

/** How many connections for reads each group may hold at a time. The groups do not wait for each other. */
export interface ReadTurns {
  /** What may take long: pages, searches, reports. */
  readonly pages: TenantTurns;
  /** A few rows by their keys. */
  readonly byKey: TenantTurns;
  /**
   * Look-ups by an API key, which may be invented. The tenant is not known yet, so all of them count as one tenant's.
   */
  readonly identities: TenantTurns;
  /** Questions of background work across tenants, on a distributed database: one silent server holds them all. */
  readonly surveys: TenantTurns;
  /** What concerns people, whom anybody may pretend to be: they belong to no tenant, and so count as one. */
  readonly people: TenantTurns;
}

/** One tenant's share of the connections; and that of a tenant with slow searches, for example without an index. */
const TENANT_PART = 1 / 2;
const SLOW_TENANT_PART = 1 / 8;
/** What reads by key may hold, and those of one tenant. They are over soon. */
const BY_KEY_PART = 1 / 2;
const BY_KEY_TENANT_PART = 1 / 4;
const IDENTITIES_PART = 1 / 4;
const PEOPLE_PART = 1 / 4;
const SURVEYS_PART = 1 / 4;
/** A page takes a few milliseconds. */
const SLOW_MS = 100;
const SLOW_FOR_MS = 5_000;
/** Half of the requests that a process works on at once, unless it is told otherwise. */
const OF_TENANT_WAITING_MAX = 128;
/** More than a process works on at once, so that nobody is refused for the number of others. */
const IDENTITIES_WAITING_MAX = 100_000;
const WAIT_MAX_MS = 5_000;

export function createReadTurns(options: ReadTurnsOptions): ReadTurns {
  const { clock, readMax, sparedForShared, waitMaxMs = WAIT_MAX_MS } = options;
  const part = (share: number, least: number): number => Math.max(least, Math.floor(readMax * share));
  const common = {
    clock,
    slowMs: SLOW_MS,
    slowForMs: SLOW_FOR_MS,
    waitingOfTenantMax: OF_TENANT_WAITING_MAX,
    waitMaxMs,
  };
  // At least two: opening what was read may need a read of keys.
  const byKeyOfTenant = part(BY_KEY_TENANT_PART, 2);
  const identities = part(IDENTITIES_PART, 1);
  const people = part(PEOPLE_PART, 1);
  const surveys = part(SURVEYS_PART, 1);
  return {
    pages: new TenantTurns({
      ...common,
      // One is left for reads and look-ups by key.
      placesMax: Math.max(1, readMax - sparedForShared - 1),
      placesOfTenantMax: part(TENANT_PART, 1),
      placesOfSlowMax: part(SLOW_TENANT_PART, 1),
    }),
    byKey: new TenantTurns({
      ...common,
      placesMax: part(BY_KEY_PART, 2),
      placesOfTenantMax: byKeyOfTenant,
      placesOfSlowMax: byKeyOfTenant,
    }),
    identities: new TenantTurns({
      ...common,
      placesMax: identities,
      placesOfTenantMax: identities,
      placesOfSlowMax: identities,
      waitingOfTenantMax: IDENTITIES_WAITING_MAX,
    }),
    surveys: new TenantTurns({
      ...common,
      placesMax: surveys,
      placesOfTenantMax: surveys,
      placesOfSlowMax: surveys,
    }),
    people: new TenantTurns({
      ...common,
      placesMax: people,
      placesOfTenantMax: people,
      placesOfSlowMax: people,
    }),
  };
}
