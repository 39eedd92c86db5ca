import type { AuditContext } from '../../../audit/entry.js';
import { OtherSuccess } from '../../../http/routes/route.js';
import { newId } from '../../../kernel/ids.js';
import type { ReactorStore } from '../definition/store.js';
import { reactorIdOf } from '../definition/store.js';
import type { Accept } from '../queue/accept.js';
import { readReactBody } from './input.js';
import type { Conclude, Invoker, ReactAnswer } from './invocation.js';
import type { InvokeOptions } from './invoke.js';
import { createInvoke } from './invoke.js';
import type { TrialAnswer } from './trial.js';
import { createTryCode } from './trial.js';

type Id = string | undefined;

export interface RunCalls {
  react(caller: Invoker, auditContext: AuditContext, id: Id, body: unknown): Promise<ReactAnswer | OtherSuccess>;
  /** Without an id, of code that is nobody's yet. */
  test(tenantId: string, auditContext: AuditContext, id: Id, body: unknown): Promise<TrialAnswer>;
}

const DEADLINE_MS = 30_000;

export function createRunCalls(options: InvokeOptions, store: ReactorStore, accept: Accept): RunCalls {
  const invoke = createInvoke(options, store);
  const tryCode = createTryCode(options, store);
  return {
    async react(principal, auditContext, given, body) {
      const input = readReactBody(body);
      const reactorId = reactorIdOf(given);
      if (input.callbackUrl !== undefined) {
        return accept(principal, auditContext, reactorId, input, () => new OtherSuccess());
      }
      const call = { principal, auditContext, reactorId, args: input.args, requestId: newId(), attempt: 1 };
      const { keepAnswer } = auditContext;
      const conclude: Conclude | undefined =
        keepAnswer &&
        (async (tx, { answer }, shown) => {
          if (answer) await keepAnswer(tx, answer, shown);
        });
      const result = await invoke({ ...call, deadlineMs: DEADLINE_MS }, conclude);
      if (result.failure) throw result.failure;
      return result.answer;
    },
    test: (tenantId, auditContext, id, body) =>
      tryCode(tenantId, auditContext, id === undefined ? undefined : reactorIdOf(id), body),
  };
}
