import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import { CustomResponse } from '../../../http/transport/custom-response.js';
import { AppError, validationFailed } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import type { ConsoleLine, RunOutcome } from '../../../sandbox/run.js';
import { findExpressions } from '../../../vault/index.js';
import { withHiddenKept } from '../../definitions/hidden.js';
import type { ReactorDefinition } from '../definition/content.js';
import type { CurrentReactor } from '../definition/current-reactor.js';
import { currentReactor } from '../definition/current-reactor.js';
import type { TrialInput } from '../definition/input.js';
import { readTrial } from '../definition/input.js';
import type { ReactorStore } from '../definition/store.js';
import { REACTOR_EVENTS } from '../events.js';
import { failureOfRun, runtimeError } from './failure.js';
import type { InvokeOptions } from './invoke.js';

/** What a trial run did, for whoever writes the code. */
export interface TrialAnswer {
  readonly raw?: Json;
  readonly tokenize?: Json;
  readonly console: ConsoleLine[];
  readonly duration_ms: number;
}

/** Runs code as it stands or as it is given, without tokens, client or rights. Nothing of it is kept. */
export type TryCode = (
  tenantId: string,
  auditContext: AuditContext,
  reactorId: string | undefined,
  body: unknown,
) => Promise<TrialAnswer>;

const DEADLINE_MS = 30_000;
const NO_ENTITY = '*';
/** Browsers send a request again by themselves when it is answered 408, and the code would run once more. */
const REPEATED_STATUS = 408;
const TIMEOUT_STATUS_FOR_USERS = 504;

export function createTryCode(options: InvokeOptions, store: ReactorStore): TryCode {
  const { clock, runCode, database, headerPrefixes } = options;
  return async (tenantId, auditContext, reactorId, body) => {
    const given = readTrial(body, reactorId !== undefined);
    refuseExpressions(given.args);
    runCode.check();
    const stored = reactorId === undefined ? undefined : await currentReactor(options, store, tenantId, reactorId);
    const { code, configuration } = definitionOf(auditContext, given, stored);
    const startedMs = clock.monotonicMs();
    const { outcome } = await runCode.run(
      { tenantId, ownerId: newId(), version: '', code, applicationId: undefined },
      async () => ({
        ...{ args: given.args, configuration, attempt: 1 },
        requestId: newId(),
        keepsConsole: true,
        origin: auditContext,
      }),
      { deadlineMs: DEADLINE_MS, isOnce: true },
    );
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    await database.write(tenantId, (tx) =>
      record(
        tx,
        { ...auditContext, atMs: clock.nowMs() },
        {
          event: REACTOR_EVENTS.tested,
          entityId: reactorId ?? NO_ENTITY,
          outcome: outcome.outcome === 'returned' ? 'success' : 'failure',
          entityVersion: given.code === undefined ? stored?.version : undefined,
        },
      ),
    );
    return answerOf(outcome, durationMs, headerPrefixes, auditContext.actor?.type === 'user');
  };
}

function definitionOf(
  auditContext: AuditContext,
  given: Pick<TrialInput, 'code' | 'configuration'>,
  stored: CurrentReactor | undefined,
): Pick<ReactorDefinition, 'code' | 'configuration'> {
  const own = stored?.definition.configuration ?? {};
  return {
    code: given.code ?? stored?.definition.code ?? '',
    configuration: given.configuration ? withHiddenKept(auditContext, own, given.configuration) : own,
  };
}

function refuseExpressions(args: Json): void {
  const [first] = findExpressions({ args });
  if (first) throw validationFailed({ [first.path]: ['must hold no expression: a test uses no tokens'] });
}

function answerOf(
  outcome: RunOutcome,
  durationMs: number,
  headerPrefixes: readonly string[],
  isForBrowser: boolean,
): TrialAnswer {
  const console = 'console' in outcome ? [...outcome.console] : [];
  const value = outcome.outcome === 'returned' ? ((outcome.value ?? {}) as Json) : undefined; // It came out of a parser.
  if (isJsonObject(value)) {
    const { raw, tokenize } = value;
    return {
      ...(raw !== undefined && { raw }),
      ...(tokenize !== undefined && { tokenize }),
      console,
      duration_ms: durationMs,
    };
  }
  const failure =
    outcome.outcome === 'returned'
      ? runtimeError('The function must return an object with raw, tokenize or both.')
      : failureOfRun(outcome, DEADLINE_MS, headerPrefixes);
  const { code, message, status, errors } = failure;
  throw new AppError(code, message, {
    status: isForBrowser && status === REPEATED_STATUS ? TIMEOUT_STATUS_FOR_USERS : status,
    ...(errors && { errors }),
    members: {
      console,
      duration_ms: durationMs,
      ...(failure instanceof CustomResponse && { response: failure.answer }),
    },
  });
}
