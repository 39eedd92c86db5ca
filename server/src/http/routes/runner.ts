import type { Authenticate } from '../../access/authenticate.js';
import type { PortalCookieReader } from '../../access/portal-cookie-reader.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { Clock } from '../../kernel/clock.js';
import type { AppError } from '../../kernel/errors.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { RunOnce } from '../idempotency/idempotency.js';
import type { BodyWaits } from '../transport/body-waits.js';
import type { RequestContext } from '../transport/context.js';
import type { PassedBytes } from '../transport/passed-bytes.js';
import type { Exchange } from '../transport/respond.js';
import type { StreamSlots } from '../transport/stream-slots.js';
import type { PortalEntrance } from './portal-door.js';
import type { Params, RouteRecord } from './route.js';

/** Runs a request through its route. Resolves, or returns, once it is answered. */
export type RouteRunner = (exchange: Exchange, rawQuery: string, params: Params) => void | Promise<void>;

/** What the runners of all kinds of routes need. */
export interface RunnerOptions {
  readonly clock: Clock;
  /** Who a key belongs to; asked on routes that admit Applications or sessions. */
  readonly authenticate: Authenticate;
  /** Who a Portal cookie belongs to; asked on routes that admit users. */
  readonly readPortalCookie: PortalCookieReader;
  /** How pages of the Portal get in. */
  readonly portal: PortalEntrance;
  /** Writes the entries of full auditing; resolves once they are durable. Undefined when auditing is standard. */
  readonly auditRequest: AuditRequest | undefined;
  readonly bodies: BodyWaits;
  readonly streams: StreamSlots;
  readonly passed: PassedBytes;
  readonly largeWork: Pick<LargeWork, 'bytes' | 'paced'>;
  readonly runOnce: RunOnce;
  /** Aborted when the server begins to stop. */
  readonly stopping: AbortSignal;
  readonly onUnauthenticated: (context: RequestContext, error: AppError) => void;
  /** Told of every failure that is ours, with its inside story. */
  readonly onFault: (error: unknown, traceId: string) => void;
}

/** Something full auditing has an entry for. */
export interface AuditedRequest {
  readonly route: Pick<RouteRecord, 'audit'>;
  readonly params: Params;
  readonly principal: Principal;
  readonly auditContext: AuditContext;
  readonly isDenied: boolean;
}

export type AuditRequest = (request: AuditedRequest) => Promise<void>;
