import type { TSchema } from 'typebox';
import type { RequirementOf } from '../../access/authorize.js';
import type { Admits, Principal, PrincipalOf } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { EndSignal } from '../../kernel/end-signal.js';
import type { ErrorCode } from '../../kernel/errors.js';
import type { Flow } from '../../kernel/flow.js';
import type { PortalDoor, PortalVisit } from '../transport/portal-visit.js';
import type { Method, Params, RouteAudit, RouteCommon } from './route.js';

/** A request as the handler of a stream sees it. Nothing of its body was read yet. */
export interface StreamRequest<Caller = Principal | undefined> {
  /** Undefined where the route admits anyone, or where it takes requests without a key and there was none. */
  readonly principal: Caller;
  readonly auditContext: AuditContext;
  /** HEAD too: its answer has a head alone. */
  readonly method: string;
  /** With `*`, the rest of the path as it was sent, where the route's path ends so. */
  readonly params: Params;
  readonly rawQuery: string;
  /** Of our headers, as the client writes it: those of the answer have it too. */
  readonly prefix: string;
  /** Names and values as they came, one behind the other: credentials and headers of the connection among them. */
  readonly rawHeaders: readonly string[];
  /**
   * The body in pieces, no faster than they are taken; can be gone through once. Throws 413 for more bytes than the record
   * allows and 400 where it breaks off. What is not taken is thrown away, and the connection ends behind the answer.
   */
  readonly body: AsyncIterable<Buffer>;
  /** In place of `body` where it is announced as short (64 KiB): all of it at once. Throws 400 where it breaks off. */
  readonly readShort: (() => Promise<Buffer>) | undefined;
  /** Aborted when the client has left or the time of the record is over: nobody will read an answer. */
  readonly signal: EndSignal;
  /**
   * Where nobody is known by a key: to be called as soon as it is known which tenant the request is for. Throws 503 when that one has
   * too many of them, and 413 for a body that is announced as too long: who is not admitted is not told what would be.
   */
  readonly assignTo: ((tenantId: string) => void) | undefined;
  /** Aborted when the server begins to stop: an answer without an end has to end itself. What goes on has a few seconds. */
  readonly stopping: AbortSignal;
  /** Who visits the Portal. Undefined on every other route. */
  readonly visit: PortalVisit | undefined;
}

/** The answer of a stream. */
export interface StreamAnswer {
  /** Any final status. */
  readonly status: number;
  /**
   * Names and values one behind the other. Those of the connection, of other origins (CORS) and cookies are the server's own
   * and dropped here.
   */
  readonly headers: readonly string[];
  /**
   * What is there as a whole leaves in one piece. Pieces are taken no faster than the client reads, and left (`return`) when it
   * leaves; a flow has to end by the signal of the request then. What it throws before its first piece is answered like any
   * failure; later the connection breaks off, so that nobody takes a part for the whole.
   */
  readonly body?: AsyncIterable<Buffer> | Flow | Buffer | undefined;
}

/** What the document of the Portal's calls says of a stream. */
export interface StreamDescription {
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly query?: TSchema;
  /** What an answer is made of, by media type: one event, or one line. */
  readonly answers: Readonly<Record<string, TSchema>>;
  readonly failures?: readonly ErrorCode[];
}

/** A route of the kind `stream` as data: bodies in and out in pieces, for proxies, exports and live tails. */
export interface StreamRoute extends RouteCommon {
  readonly kind: 'stream';
  readonly methods: readonly Method[];
  /** Lets requests without any key in; the handler decides about them. A key that came must be good. */
  readonly isKeyOptional?: true;
  readonly bodyBytesMax: number;
  /** How long a request may take, from its admission to its last byte. */
  readonly durationMsMax: number;
  /** The member that problems stand in, where the answer may be somebody else's: without it they are the whole body. */
  readonly problemsIn?: string;
  /** What full auditing writes for a refusal. */
  readonly audit?: RouteAudit;
  /** A call of the Portal's own pages, and whom it lets in. */
  readonly portal?: PortalDoor;
  /** Every call of the Portal has one. */
  readonly describes?: StreamDescription;
  readonly handle: (request: StreamRequest) => StreamAnswer | Promise<StreamAnswer>;
}

type Caller<A extends Admits, Optional> = PrincipalOf<A> | (Optional extends true ? undefined : never);

type TypedStream<A extends Admits, Optional extends true | undefined> = Omit<
  StreamRoute,
  'kind' | 'permission' | 'admits' | 'isKeyOptional' | 'handle'
> & {
  readonly permission: RequirementOf<A>;
  readonly admits: A;
  readonly isKeyOptional?: Optional;
  readonly handle: (request: StreamRequest<Caller<A, Optional>>) => StreamAnswer | Promise<StreamAnswer>;
};

export function defineStream<const A extends Admits, const Optional extends true | undefined = undefined>(
  route: TypedStream<A, Optional>,
): StreamRoute {
  // A principal reaches the handler only if the record admits its kind.
  return { ...route, kind: 'stream' } as unknown as StreamRoute;
}
