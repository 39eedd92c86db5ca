import type { Cluster, ClusterOptions } from './cluster.js';
import type { Journal } from './journal.js';
import type { LoadSize } from './load.js';
import type { Random } from './random.js';

/** What has to be installed. PostgreSQL is always there: the product brings it along. */
export type Part = 'redis-server' | 'postgresql' | 'citus' | 'a file system of its own';

/** What a scenario has in its hands while the load runs. */
export interface Round {
  readonly cluster: Cluster;
  /** For the choices of the fault; the load has its own. */
  readonly random: Random;
  readonly journal: Journal;
  /** Begins every mark and trace id of this round. */
  readonly id: string;
  readonly isLong: boolean;
  readonly violate: (text: string) => void;
  /** Waits for a time between the two, by the seed. */
  pause(minMs: number, maxMs: number): Promise<void>;
}

export type Undo = () => Promise<void>;

export interface Scenario {
  readonly name: string;
  /** One line: what is broken, and how. */
  readonly about: string;
  readonly needs: readonly Part[];
  readonly shortCount: number;
  readonly longCount: number;
  readonly cluster?: ClusterOptions | (() => Promise<ClusterOptions>);
  /** For a fault that leaves the cluster fit for nothing else. */
  readonly hasClusterPerRound?: true;
  readonly load?: Partial<LoadSize>;
  /** Once, before the first round, on the running cluster. */
  setUp?(cluster: Cluster): Promise<void>;
  /** Breaks something while the load runs. What it returns mends it; the fault ends when that is done. */
  inject(round: Round): Promise<Undo>;
  /** Checks of its own, after the load has stopped. */
  verify?(round: Round): Promise<void>;
  /** Once, after the last round, before the cluster stops. */
  tearDown?(cluster: Cluster): Promise<void>;
}
