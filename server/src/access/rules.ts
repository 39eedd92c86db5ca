import type { Permission } from './permissions.js';

export const TRANSFORMS = ['reveal', 'mask', 'redact'] as const;
/** How much of a token's data a grant shows, from most to least. */
export type Transform = (typeof TRANSFORMS)[number];

/** The one that shows least; undefined of none. */
export function strictest(transforms: readonly Transform[]): Transform | undefined {
  return TRANSFORMS.findLast((transform) => transforms.includes(transform));
}

export const CONDITION_ATTRIBUTES = ['id', 'container'] as const;
export const CONDITION_OPERATORS = ['equals', 'starts_with'] as const;

/** A condition of a session's rule. */
export interface Condition {
  readonly attribute: (typeof CONDITION_ATTRIBUTES)[number];
  readonly operator: (typeof CONDITION_OPERATORS)[number];
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
