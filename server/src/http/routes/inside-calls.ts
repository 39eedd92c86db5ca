import fastJson from 'fast-json-stringify';
import { authorize } from '../../access/authorize.js';
import type { Principal } from '../../access/principal.js';
import type { AuditContext } from '../../audit/entry.js';
import { AppError } from '../../kernel/errors.js';
import { hasMoreValues, parseJsonBody } from '../../kernel/json-guard.js';
import { lazy } from '../../kernel/lazy.js';
import { Secret } from '../../kernel/secret.js';
import { BODY_BYTES_MAX, BODY_VALUES_MAX, tooLarge, tooManyValues } from '../transport/body.js';
import { PiecewiseList, textOfList } from '../transport/piecewise.js';
import { problemOf } from '../transport/problem.js';
import { createOtherRenderer, itemSchemaOf } from './answer.js';
import { createInputReader } from './read-input.js';
import type { RouteRecord } from './route.js';
import { OtherSuccess, Rendered, takesBody } from './route.js';
import { createRouter } from './router.js';

/** A call of the API that came over no socket. */
export interface InsideRequest {
  readonly method: string;
  /** With its query. */
  readonly target: string;
  readonly body: Buffer;
}

export interface InsideAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Calls routes of the kind `json` as somebody who is known already: same rights, same checks of input, same fields out, same
 * entries in the log. What is about the wire stays away: limits, idempotency keys, headers.
 */
export type CallInside = (
  principal: Principal,
  auditContext: AuditContext,
  request: InsideRequest,
) => Promise<InsideAnswer>;

export interface InsideCallsOptions {
  /** A fault of ours; the caller is told nothing of it. */
  readonly onFault: (error: unknown, traceId: string) => void;
}

const ANSWER_BYTES_MAX = 10 * 1024 * 1024;

interface Callable {
  readonly route: RouteRecord;
  readonly read: ReturnType<typeof createInputReader>;
  readonly write: (value: unknown) => Promise<Buffer>;
}

export function createInsideCalls(routes: readonly RouteRecord[], { onFault }: InsideCallsOptions): CallInside {
  const find = createRouter(
    routes.map((route) => ({ method: route.method, path: route.path, target: callable(route) })),
  );
  return async (principal, auditContext, request) => {
    try {
      return await call(find, principal, auditContext, request);
    } catch (error) {
      const traceId = auditContext.traceId ?? '';
      if (!(error instanceof AppError)) onFault(error, traceId);
      const { status, body } = problemOf(error, { traceId, prefix: 'SVC' });
      return { status, body: Buffer.from(body) };
    }
  };
}

async function call(
  find: ReturnType<typeof createRouter<Callable>>,
  principal: Principal,
  auditContext: AuditContext,
  { method, target, body }: InsideRequest,
): Promise<InsideAnswer> {
  const at = target.indexOf('?');
  const found = find(at === -1 ? target : target.slice(0, at));
  const callable = found?.byMethod.get(method);
  if (!found || !callable) throw new AppError('not_found', 'There is no such call of the API.');
  const { route, read, write } = callable;
  authorize(principal, route);
  const { bodyBytesMax = BODY_BYTES_MAX, bodyValuesMax = BODY_VALUES_MAX } = route;
  if (body.length > bodyBytesMax) throw tooLarge(bodyBytesMax);
  if (hasMoreValues(body, bodyValuesMax)) throw tooManyValues(bodyValuesMax);
  const { query, filters } = read.query(at === -1 ? '' : target.slice(at + 1));
  const value = await route.handle({
    principal,
    auditContext,
    params: found.params,
    query,
    filters,
    body: takesBody(route) ? read.body(body.length === 0 ? undefined : parseJsonBody(body)) : undefined,
    visit: undefined,
    apiKey: new Secret(''),
  });
  if (value instanceof OtherSuccess) {
    const other = createOtherRenderer(route)(value);
    return { status: other.status, body: Buffer.from(other.body ?? '') };
  }
  return { status: route.status, body: await write(value) };
}

/** Nobody reads it piece by piece here, so all of it is held at once. */
async function gathered(list: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of list) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) {
      throw new AppError(
        'payload_too_large',
        `The answer is larger than ${ANSWER_BYTES_MAX} bytes. Ask for a smaller page.`,
      );
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function callable(route: RouteRecord): Callable {
  const { response } = route;
  const serializer = response && lazy(() => fastJson(response));
  const itemSerializer = lazy(() => fastJson(itemSchemaOf(route)));
  return {
    route,
    read: createInputReader(route),
    async write(value) {
      if (value instanceof Rendered) return Buffer.from(value.json.text);
      if (!serializer) return Buffer.alloc(0);
      if (!(value instanceof PiecewiseList)) return Buffer.from(serializer()(value));
      return gathered(textOfList(value, serializer(), itemSerializer()));
    },
  };
}
