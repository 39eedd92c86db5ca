import type { Principal } from '../../access/principal.js';
import type { Act } from '../../audit/entry.js';
import type { Clock } from '../../kernel/clock.js';
import { Secret } from '../../kernel/secret.js';
import type { RequestContext } from '../transport/context.js';
import type { Params, RouteRequest } from './route.js';

/** A request as its handler sees it. A class, because the act and the key are made only for a handler that asks for them. */
export class Incoming implements RouteRequest<unknown, unknown, unknown> {
  readonly principal: Principal | undefined;
  readonly params: Params;
  readonly query: unknown;
  readonly filters: unknown;
  readonly body: unknown;
  readonly #context: RequestContext;
  readonly #clock: Clock;
  readonly #keepAnswer: Act['keepAnswer'];
  #act: Act | undefined;

  constructor(
    context: RequestContext,
    clock: Clock,
    params: Params,
    query: unknown,
    filters: unknown,
    body: unknown,
    keepAnswer: Act['keepAnswer'],
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

  get act(): Act {
    this.#act ??= actOf(this.#context, this.#clock, this.#keepAnswer);
    return this.#act;
  }

  get apiKey(): Secret<string> {
    return new Secret(this.#context.headers.apiKey ?? '');
  }
}

export function actOf(context: RequestContext, clock: Clock, keepAnswer?: Act['keepAnswer']): Act {
  return {
    actor: context.principal?.actor,
    atMs: clock.nowMs(),
    sourceAddress: context.sourceAddress,
    traceId: context.traceId,
    holder: context,
    keepAnswer,
  };
}
