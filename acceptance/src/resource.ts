import type { Subject } from './subject.js';

/** An endpoint as the index of the API has it. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** A permission, or which kind of key will do. */
  readonly needs: string;
  readonly success: number;
  /** What it answers besides: 401 always, the others as its kind and its section say. */
  readonly refusals: readonly number[];
  /** A body it takes, where it takes one. */
  readonly body?: unknown;
  /** It may be far longer than others, and is bounded by its values too. */
  readonly hasManyValues?: true;
}

/** What endpoints of a kind answer besides success. */
export const READ = [401, 403];
export const LIST = [400, 401, 403];
export const ONE = [401, 403, 404];
export const SENT = [400, 401, 403, 413, 415];

/** A row of the index. */
export function endpoint(
  [method, path]: readonly [string, string],
  needs: string,
  success: number,
  refusals: readonly number[],
  body?: unknown,
): Endpoint {
  return { method, path, needs, success, refusals, ...(body !== undefined && { body }) };
}

/** What the suite knows of a resource: its rows of the index, and what is special about them. */
export interface Resource {
  readonly endpoints: readonly Endpoint[];
  readonly suite: (subject: () => Subject) => void;
  /** Looks at the tenant as it was made, so it runs before tokens are. */
  readonly needsNoTokens?: true;
  /** Makes something for `{id}` in its paths, and gives its id; without it that is an Application or a token. */
  readonly make?: (subject: Subject) => Promise<string>;
}
