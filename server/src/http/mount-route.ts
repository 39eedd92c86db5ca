import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticate } from '../access/authenticate.js';
import { authorize } from '../access/authorize.js';
import type { Principal } from '../access/principal.js';
import type { Act } from '../audit/entry.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { readJsonBody } from './body.js';
import type { RequestContext } from './context.js';
import { contextOf } from './context.js';
import type { HeaderNames } from './header-names.js';
import { createInputReader } from './read-input.js';
import type { RouteRecord } from './route.js';
import { Rendered } from './route.js';

export interface MountOptions {
  readonly clock: Clock;
  readonly headerNames: HeaderNames;
  readonly authenticate: Authenticate;
  /** Writes the entries of full auditing; resolves once they are durable. Undefined when auditing is standard. */
  readonly auditRequest:
    | ((principal: Principal, act: Act, route: RouteRecord, isDenied: boolean) => Promise<void>)
    | undefined;
  readonly onUnauthenticated: (context: RequestContext, error: AppError) => void;
}

/** Public routes have nobody behind them; their handlers do not look. */
const NOBODY: Principal = {
  tenantId: '',
  applicationId: '',
  applicationType: 'public',
  permissions: new Set(),
};

/** Puts one route record into the router. Rights are checked in `onRequest`: before any byte of the body is read. */
export function mountRoute(server: FastifyInstance, route: RouteRecord, options: MountOptions): void {
  const read = createInputReader({
    ...(route.query && { query: route.query }),
    ...(route.body && { body: route.body }),
  });

  function actOf(context: RequestContext): Act {
    const { principal } = context;
    return {
      actor: principal && { type: 'application', id: principal.applicationId },
      atMs: options.clock.nowMs(),
      sourceAddress: context.sourceAddress,
      traceId: context.traceId,
    };
  }

  function admit(principal: Principal, context: RequestContext): void | Promise<void> {
    context.principal = principal;
    try {
      authorize(principal, route.permission);
    } catch (denied) {
      if (!options.auditRequest || !route.audit) throw denied;
      return options.auditRequest(principal, actOf(context), route, true).then(() => {
        throw denied;
      });
    }
  }

  function identify(request: FastifyRequest, context: RequestContext): void | Promise<void> {
    const refuse = (error: unknown): never => {
      if (error instanceof AppError && error.status === 401) options.onUnauthenticated(context, error);
      throw error;
    };
    try {
      const found = options.authenticate(options.headerNames.read(request.raw.headers, 'api-key'));
      if (!(found instanceof Promise)) return admit(found, context);
      return found.then((principal) => admit(principal, context), refuse);
    } catch (error) {
      refuse(error);
    }
  }

  async function handleWithBody(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const body = read.body(await readJsonBody(request.raw));
    return handle(request, reply, body);
  }

  function handle(request: FastifyRequest, reply: FastifyReply, body: unknown): unknown {
    const context = contextOf(request.raw);
    const principal = context.principal ?? NOBODY;
    const query = route.query ? read.query(rawQueryOf(request.raw.url ?? '')) : {};
    const act = actOf(context);
    const result = route.handle({ principal, act, query, body });
    const auditRead = options.auditRequest && route.audit?.onRead ? options.auditRequest : undefined;
    if (auditRead) {
      return Promise.resolve(result).then((value) =>
        auditRead(principal, act, route, false).then(() => answer(reply, value)),
      );
    }
    return result instanceof Promise ? result.then((value) => answer(reply, value)) : answer(reply, result);
  }

  function answer(reply: FastifyReply, value: unknown): FastifyReply {
    reply.code(route.status);
    if (value instanceof Rendered) return reply.header('Content-Type', 'application/json').send(value.json);
    return route.status === 204 ? reply.send() : reply.send(value);
  }

  server.route({
    method: route.method,
    url: route.path,
    ...(route.response && { schema: { response: { [route.status]: route.response } } }),
    onRequest: (request, _reply, done) => {
      const context = contextOf(request.raw);
      context.route = `${route.method} ${route.path}`;
      if (route.permission === 'public') {
        done();
        return;
      }
      let identified: void | Promise<void>;
      try {
        identified = identify(request, context);
      } catch (error) {
        done(error as Error); // Only errors are thrown on this path.
        return;
      }
      if (identified) identified.then(() => done(), done);
      else done();
    },
    handler: route.body ? handleWithBody : (request, reply) => handle(request, reply, undefined),
  });
}

function rawQueryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
