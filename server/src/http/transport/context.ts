import type { Principal } from '../../access/principal.js';
import type { AnswerHolder } from '../../audit/entry.js';
import type { AppError } from '../../kernel/errors.js';
import type { OwnHeaders } from './own-headers.js';
import type { PlaceHolder } from './places.js';
import type { PortalVisit } from './portal-visit.js';

/** What is known of a request, filled in on its way. */
export interface RequestContext extends AnswerHolder, PlaceHolder {
  readonly traceId: string;
  readonly headers: OwnHeaders;
  readonly sourceAddress: string;
  /** The address as rate limits count it. */
  readonly limitKey: string;
  readonly startedAtMs: number;
  /** The pattern of the route, never the raw path: a path can hold what belongs in no log. */
  route: string;
  /** Pages of any origin may read the answer: so where API keys are used, and nowhere else. */
  isCrossOrigin: boolean;
  /** Under the path of the Portal, whether a route takes it or none. */
  isOfPortal: boolean;
  /** The member of the body that a problem stands in, so that nobody takes ours for somebody else's. */
  problemsIn: string | undefined;
  principal: Principal | undefined;
  /** What its connection was told while the request was still arriving: its answer, whatever else becomes of it. */
  refusal?: AppError;
  /** On calls of the Portal. */
  visit?: PortalVisit;
  /** What of a long answer is still to be written. */
  unwrittenBytes: number;
}
