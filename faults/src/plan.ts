import type { Entity, ExpectedEntry, State } from './journal.js';
import type { Random } from './random.js';
import type { LoadTenant } from './tenants.js';

/** One operation before it is sent. */
export interface Plan {
  readonly kind: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly isManagement?: true;
  /** Statuses of success. */
  readonly good: number;
  readonly mayRepeat: boolean;
  /** What each entity is afterwards. */
  readonly steps: readonly { readonly entity: Entity; readonly state: State | undefined }[];
  readonly expected: readonly ExpectedEntry[] | undefined;
  readonly disclosure?: string;
  /** Looks at the answer of a success: learns ids, says what is wrong. May tell what the log must hold. */
  onAnswer?(body: unknown): { readonly wrong?: string; readonly expected?: readonly ExpectedEntry[] };
}

/** What one worker owns, and whom it works for. */
export interface WorkerView {
  readonly random: Random;
  readonly tenant: LoadTenant;
  /** Begins every mark of the round. */
  readonly roundId: string;
  readonly nextMark: () => string;
  /** Live tokens and applications nobody else changes. */
  readonly tokens: Entity[];
  readonly applications: Entity[];
  /** Only one worker of a tenant changes the tenant itself. */
  readonly tenantEntity: Entity | undefined;
  /** The id of some token of another tenant, once there is one. */
  readonly foreignToken: () => string | undefined;
}

export function newEntity(kind: Entity['kind'], tenant: number, mark: string): Entity {
  return { kind, tenant, mark, id: undefined, steps: [], isRetired: false };
}

/** What it is now, as far as its one worker knows. */
export function stateOf(entity: Entity): State | undefined {
  return entity.steps.at(-1)?.state;
}

export function field(body: unknown, ...path: readonly (string | number)[]): unknown {
  let value = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[name]; // Any property of an object may be asked for.
  }
  return value;
}

export function textAt(body: unknown, ...path: readonly (string | number)[]): string {
  const value = field(body, ...path);
  return typeof value === 'string' ? value : '';
}
