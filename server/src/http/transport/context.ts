import type { Principal } from '../../access/principal.js';
import type { Act, Holder } from '../../audit/entry.js';
import type { KeptAnswer } from '../../kept-answers/kept-answer.js';
import type { OwnHeaders } from './own-headers.js';
import type { PlaceHolder } from './places.js';

/** A request under an idempotency key, from its admission to its answer. */
export interface Turn {
  readonly keepAnswer: NonNullable<Act['keepAnswer']>;
  /** What was stored last: a change may run more than once. */
  kept: KeptAnswer | undefined;
}

/** What is known of a request, filled in on its way. */
export interface RequestContext extends Holder, PlaceHolder {
  readonly traceId: string;
  readonly headers: OwnHeaders;
  readonly sourceAddress: string;
  /** The address as rate limits count it. */
  readonly limitKey: string;
  readonly startedAtMs: number;
  /** The pattern of the route, never the raw path: a path can hold what belongs in no log. */
  route: string;
  principal: Principal | undefined;
  /** Undefined without an idempotency key. */
  turn: Turn | undefined;
}
