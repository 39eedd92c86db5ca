import type { AuditContext } from '../../../audit/entry.js';
import { AppError, overloaded } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { Database } from '../../../storage/database.js';
import type { ReactorStore } from '../definition/store.js';
import { noSuchReactor } from '../definition/store.js';
import type { ReactInput } from '../run/input.js';
import type { Invocation } from '../run/invocation.js';
import type { RunCode } from '../run/run-code.js';
import { sealRequest } from './content.js';
import { insertRequest, measureQueue } from './queries.js';
import type { QueueSignals } from './queue.js';

export interface AcceptOptions {
  readonly database: Database;
  readonly store: ReactorStore;
  readonly runCode: Pick<RunCode, 'check'>;
  readonly queue: QueueSignals;
}

/**
 * Takes a call on, to be run later, and resolves with what the handler answers. Expressions stay as they are: what they stand for
 * is read when it runs, with the rights the caller has then.
 */
export type Accept = <T>(
  principal: Invocation['principal'],
  auditContext: AuditContext,
  reactorId: string,
  input: ReactInput,
  answerOf: (requestId: string) => T,
) => Promise<T>;

/** What may wait of one tenant. */
const WAITING_MAX = 10_000;
const WAITING_BYTES_MAX = 1_073_741_824;
const FIRST_VERSION = 1;

export function createAccept({ database, store, runCode, queue }: AcceptOptions): Accept {
  return async (principal, auditContext, reactorId, input, answerOf) => {
    runCode.check();
    const { tenantId, actor } = principal;
    const waiting = await database.read(tenantId, measureQueue);
    if (waiting.requests >= WAITING_MAX || waiting.bytes >= WAITING_BYTES_MAX) throw overloaded();
    const keys = await store.keysFor(tenantId, []);
    const place = {
      ...{ tenant_id: tenantId, id: newId(), reactor_id: reactorId, version: FIRST_VERSION },
      ...{ actor_type: actor.type, actor_id: actor.id },
    };
    const { args, callbackUrl, timeoutMs } = input;
    const row = {
      ...place,
      has_callback: callbackUrl !== undefined,
      trace_id: auditContext.traceId ?? null,
      source_address: auditContext.sourceAddress ?? null,
      timeout_ms: timeoutMs,
      due_at: new Date(queue.nowMs()),
      created_at: new Date(auditContext.atMs),
      sealed: sealRequest(keys, place, { args, callbackUrl }),
    };
    const answer = answerOf(row.id);
    const refusal = await database.write(tenantId, async (tx) => {
      if (!(await insertRequest(tx, row))) return noSuchReactor();
      await auditContext.keepAnswer?.(tx, answer);
      return undefined;
    });
    if (refusal instanceof AppError) throw refusal;
    queue.wake();
    return answer;
  };
}
