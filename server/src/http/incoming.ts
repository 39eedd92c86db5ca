import type { Principal } from '../access/principal.js';
import type { Act } from '../audit/entry.js';
import { Secret } from '../kernel/secret.js';
import type { RequestContext } from './context.js';
import type { Params, RouteRequest } from './route.js';

/** A request as its handler sees it. A class, because the key is wrapped only for a handler that asks for it. */
export class Incoming implements RouteRequest<unknown, unknown, unknown> {
  readonly principal: Principal;
  readonly act: Act;
  readonly params: Params;
  readonly query: unknown;
  readonly filters: unknown;
  readonly body: unknown;
  readonly #context: RequestContext;

  constructor(
    context: RequestContext,
    principal: Principal,
    act: Act,
    params: Params,
    query: unknown,
    filters: unknown,
    body: unknown,
  ) {
    this.#context = context;
    this.principal = principal;
    this.act = act;
    this.params = params;
    this.query = query;
    this.filters = filters;
    this.body = body;
  }

  get apiKey(): Secret<string> {
    return new Secret(this.#context.headers.apiKey ?? '');
  }
}
