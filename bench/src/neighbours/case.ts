import type { Bound } from '../goals.js';
import type { Product } from '../product.js';
import type { VaultTenant } from '../tenants.js';

/** Requests that are sent over and over on so many connections. */
export interface Stream {
  readonly requests: readonly string[];
  readonly connections: number;
  /** By the clock, whether or not answers come; without it each connection sends when it has its answer. */
  readonly perSecond?: number;
}

/** What both tenants do. */
export interface Streams {
  readonly neighbour: Stream;
  readonly hostile: Stream;
}

/** One way in which a tenant may take what others need. */
export interface NeighbourCase {
  /** What the neighbour does beside what. */
  readonly name: string;
  /** The share of its rate that the neighbour keeps. */
  readonly wanted: Bound;
  prepare(given: {
    readonly product: Product;
    readonly neighbour: VaultTenant;
    readonly hostile: VaultTenant;
    readonly isQuick: boolean;
  }): Promise<Streams>;
}
