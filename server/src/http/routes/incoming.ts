import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import type { Clock } from '../../kernel/clock.js';
import { Secret } from '../../kernel/secret.js';
import type { RequestContext } from '../transport/context.js';
import type { PortalVisit } from '../transport/portal-visit.js';
import type { Params, RouteRequest } from './route.js';

/** A request as its handler sees it. A class, because the audit context and the key are made only for a handler that asks for them. */
export class Incoming implements RouteRequest<unknown, unknown, unknown> {
  readonly principal: Principal | undefined;
  readonly params: Params;
  readonly query: unknown;
  readonly filters: unknown;
  readonly body: unknown;
  readonly #context: RequestContext;
  readonly #clock: Clock;
  readonly #keepAnswer: AuditContext['keepAnswer'];
  #auditContext: AuditContext | undefined;

  constructor(
    context: RequestContext,
    clock: Clock,
    params: Params,
    query: unknown,
    filters: unknown,
    body: unknown,
    keepAnswer: AuditContext['keepAnswer'],
  ) {
    this.#context = context;
    this.#clock = clock;
    this.principal = context.principal;
    this.params = params;
    this.query = query;
    this.filters = filters;
    this.body = body;
    this.#keepAnswer = keepAnswer;
  }

  get auditContext(): AuditContext {
    this.#auditContext ??= auditContextOf(this.#context, this.#clock, this.#keepAnswer);
    return this.#auditContext;
  }

  get visit(): PortalVisit | undefined {
    return this.#context.visit;
  }

  get apiKey(): Secret<string> {
    return new Secret(this.#context.headers.apiKey ?? '');
  }
}

export function auditContextOf(
  context: RequestContext,
  clock: Clock,
  keepAnswer?: AuditContext['keepAnswer'],
): AuditContext {
  return {
    actor: context.principal?.actor,
    atMs: clock.nowMs(),
    sourceAddress: context.sourceAddress,
    traceId: context.traceId,
    holder: context,
    keepAnswer,
  };
}
