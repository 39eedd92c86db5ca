import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { offsetPage, pageAsked } from '../../../http/paging/pages.js';
import { AppError } from '../../../kernel/errors.js';
import { isUuid } from '../../../kernel/ids.js';
import type { Database } from '../../../storage/database.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { ReactorStore } from '../definition/store.js';
import { noSuchReactor, reactorIdOf } from '../definition/store.js';
import { REACTOR_EVENTS } from '../events.js';
import { findReactor } from '../queries.js';
import { readReactAsyncBody } from '../run/input.js';
import type { Invocation, ReactAnswer } from '../run/invocation.js';
import type { Accept } from './accept.js';
import { requestBodyOf } from './body.js';
import { sealRequest } from './content.js';
import type { RequestOpener } from './open-request.js';
import type { RequestFacts } from './queries.js';
import { cancelRequest, countRequests, findRequest, listRequests, lockRequest, requeueRequest } from './queries.js';
import type { QueueSignals } from './queue.js';
import { answerFrom } from './result.js';
import type { ReactorRequestBody, ReactorRequestList, ReactorRequestsQuery } from './schema.js';
import { RESULT_KEPT_MS } from './settle.js';

type Id = string | undefined;
type Asking = Invocation['principal'];

export interface RequestCalls {
  /** Takes a call on whose result is fetched later. */
  reactAsync(
    caller: Asking,
    auditContext: AuditContext,
    id: Id,
    body: unknown,
  ): Promise<{ readonly asyncReactorRequestId: string }>;
  /** The answer of a run that is over; throws the refusal it ended in. */
  result(caller: Asking, nowMs: number, id: Id, requestId: Id): Promise<ReactAnswer>;
  list(tenantId: string, id: Id, query: ReactorRequestsQuery): Promise<ReactorRequestList>;
  /** Makes one that failed due again. */
  retry(tenantId: string, auditContext: AuditContext, id: Id, requestId: Id): Promise<ReactorRequestBody>;
  /** Ends one that is not over. */
  cancel(tenantId: string, auditContext: AuditContext, id: Id, requestId: Id): Promise<ReactorRequestBody>;
}

export interface RequestCallsOptions {
  readonly database: Database;
  readonly queue: QueueSignals;
  readonly store: ReactorStore;
  readonly open: RequestOpener;
  readonly accept: Accept;
}

export function createRequestCalls(options: RequestCallsOptions): RequestCalls {
  return { ...readsOfRequests(options), ...changesOfRequests(options) };
}

function readsOfRequests({ database, open }: RequestCallsOptions): Pick<RequestCalls, 'result' | 'list'> {
  return {
    async result({ tenantId, actor }, nowMs, given, givenRequest) {
      const { id, requestId } = idsOf(given, givenRequest, noSuchResult);
      const row = await database.read(tenantId, (tx) => findRequest(tx, id, requestId));
      if (!row) throw noSuchResult();
      // Whose it is counts only once it is known to be what was sealed.
      const opened = await open(tenantId, row);
      if (opened instanceof AppError) throw opened;
      const { result } = opened.content;
      const isTheirs = row.actor_type === actor.type && row.actor_id === actor.id;
      if (!isTheirs || !isThere(row, nowMs) || result === undefined) throw noSuchResult();
      return answerFrom(result);
    },

    async list(tenantId, given, query) {
      const id = reactorIdOf(given);
      const { page, size, offset } = pageAsked(query);
      const [reactor, rows, total] = await database.readPage(tenantId, (tx) =>
        Promise.all([findReactor(tx, id), listRequests(tx, id, size, offset), countRequests(tx, id)]),
      );
      if (!reactor) throw noSuchReactor();
      return { pagination: offsetPage({ total, page, size }), data: rows.map(requestBodyOf) };
    },
  };
}

function isThere({ state, ended_at: endedAt }: RequestFacts, nowMs: number): boolean {
  return state !== 'queued' && state !== 'cancelled' && endedAt !== null && nowMs < endedAt.getTime() + RESULT_KEPT_MS;
}

function changesOfRequests({
  queue,
  store,
  accept,
}: RequestCallsOptions): Pick<RequestCalls, 'reactAsync' | 'retry' | 'cancel'> {
  /** Repeating either changes nothing more, and answers the same. */
  async function change(
    tenantId: string,
    auditContext: AuditContext,
    id: string,
    requestId: string,
    work: (tx: TenantTx, before: RequestFacts) => Promise<RequestFacts | undefined>,
  ): Promise<ReactorRequestBody> {
    return store.change(tenantId, id, async (tx) => {
      const before = await lockRequest(tx, id, requestId);
      if (!before) return noSuchRequest();
      const changed = await work(tx, before);
      if (changed) await record(tx, auditContext, { event: REACTOR_EVENTS.updated, entityId: id, outcome: 'success' });
      const body = requestBodyOf(changed ?? before);
      await auditContext.keepAnswer?.(tx, body);
      return body;
    });
  }

  return {
    async reactAsync(principal, auditContext, given, body) {
      const input = readReactAsyncBody(body);
      const answerOf = (requestId: string) => ({ asyncReactorRequestId: requestId });
      return accept(principal, auditContext, reactorIdOf(given), input, answerOf);
    },

    async retry(tenantId, auditContext, given, givenRequest) {
      const { id, requestId } = idsOf(given, givenRequest, noSuchRequest);
      const dueAt = new Date(queue.nowMs());
      const body = await change(tenantId, auditContext, id, requestId, (tx) => requeueRequest(tx, requestId, dueAt));
      queue.wake();
      return body;
    },

    async cancel(tenantId, auditContext, given, givenRequest) {
      const { id, requestId } = idsOf(given, givenRequest, noSuchRequest);
      const keys = await store.keysFor(tenantId, []);
      const expiresAt = new Date(queue.nowMs() + RESULT_KEPT_MS);
      const body = await change(tenantId, auditContext, id, requestId, (tx, before) => {
        const version = before.version + 1;
        const sealed = sealRequest(keys, { ...before, version }, {});
        return cancelRequest(tx, { id: requestId, version, sealed }, expiresAt);
      });
      queue.end(requestId);
      return body;
    },
  };
}

/** Ids in the one spelling they are stored in. What is none names nothing, and is told in the same words. */
function idsOf(id: Id, requestId: Id, nothing: () => AppError): { readonly id: string; readonly requestId: string } {
  if (id === undefined || requestId === undefined || !isUuid(id) || !isUuid(requestId)) throw nothing();
  return { id: id.toLowerCase(), requestId: requestId.toLowerCase() };
}

function noSuchRequest(): AppError {
  return new AppError('not_found', 'There is no such request. GET the requests of the Reactor for those there are.');
}

function noSuchResult(): AppError {
  return new AppError('not_found', 'There is no such result: it is not there yet, or not any more.');
}
