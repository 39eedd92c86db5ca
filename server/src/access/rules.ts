import type { Permission } from './permissions.js';

export const TRANSFORMS = ['reveal', 'mask', 'redact'] as const;
/** How much of a token's data a grant shows, from most to least. */
export type Transform = (typeof TRANSFORMS)[number];

/** A condition of a session's rule. */
export interface Condition {
  readonly attribute: 'id' | 'container';
  readonly operator: 'equals' | 'starts_with';
  readonly value: string;
}

/** Covers tokens by container, or, in a session, by conditions that must all hold. */
export interface Rule {
  readonly description: string | undefined;
  readonly priority: number;
  readonly container: string | undefined;
  readonly conditions: readonly Condition[] | undefined;
  readonly transform: Transform;
  readonly permissions: readonly Permission[];
}

/** What somebody was given: plain permissions, and rules by ascending priority. */
export interface Grants {
  readonly permissions: ReadonlySet<Permission>;
  readonly rules: readonly Rule[];
}
