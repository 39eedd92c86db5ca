import { authorize } from '../../../access/authorize.js';
import type { KnownPrincipals } from '../../../access/known-principals.js';
import type { AuditContext, Shown } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import type { Clock } from '../../../kernel/clock.js';
import { AppError } from '../../../kernel/errors.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import type { Run } from '../../../sandbox/run.js';
import type { TenantTx } from '../../../storage/scope.js';
import type { Vault } from '../../../vault/index.js';
import type { CountedRun } from '../../definitions/figures/figures.js';
import { readTokenizePlan } from '../../tokens/index.js';
import type { CurrentReactorOptions } from '../definition/current-reactor.js';
import { currentReactor } from '../definition/current-reactor.js';
import type { ReactorStore } from '../definition/store.js';
import { REACTOR_EVENTS } from '../events.js';
import { failureOfRun, runtimeError } from './failure.js';
import type { FailureClass } from './failure-class.js';
import { failureClassOf } from './failure-class.js';
import type { Conclude, Invocation, InvocationResult, Invoke, Invoker, ReactAnswer } from './invocation.js';
import type { RunCode } from './run-code.js';

export interface InvokeOptions extends CurrentReactorOptions {
  readonly vault: Vault;
  readonly principals: KnownPrincipals;
  readonly runCode: RunCode;
  readonly tokensPerRequestMax: number;
  /** Of the headers that are ours. */
  readonly headerPrefixes: readonly string[];
  readonly clock: Clock;
  /** Told of every run, for figures. */
  readonly onInvoked: (invoked: Invoked) => void;
}

/** A run as figures count it. */
export interface Invoked extends CountedRun {
  readonly failure: FailureClass | undefined;
}

/** An invocation under way. */
interface Underway {
  readonly options: InvokeOptions;
  readonly invocation: Invocation;
  readonly version: number;
  readonly application: Invoker | undefined;
  readonly conclude: Conclude | undefined;
}

export function createInvoke(options: InvokeOptions, store: ReactorStore): Invoke {
  const { clock, vault, principals, runCode, onInvoked } = options;
  return async (invocation, conclude) => {
    const { principal, auditContext, reactorId, requestId, attempt, deadlineMs, signal } = invocation;
    const { tenantId } = principal;
    runCode.check();
    const { version, definition } = await currentReactor(options, store, tenantId, reactorId);
    const { applicationId } = definition;
    const application = applicationId === null ? undefined : await principals.application(tenantId, applicationId);
    let isOpened = false;
    const startedMs = clock.monotonicMs();
    const underway = { options, invocation, version, application, conclude };
    const run = await runCode
      .run(
        {
          tenantId,
          ownerId: reactorId,
          version: `${version} ${application?.applicationId ?? ''}`,
          code: definition.code,
          applicationId: application?.applicationId,
        },
        async () => {
          // Only now that there is a process for them.
          const args = await vault.use(principal, auditContext, { args: invocation.args }, 'reactor');
          isOpened = true;
          giveRoomBack(auditContext);
          return {
            args: isJsonObject(args) ? args.args : null,
            configuration: definition.configuration,
            ...{ requestId, attempt, keepsConsole: false, origin: auditContext },
          };
        },
        { deadlineMs, signal },
      )
      .catch((error: unknown) => {
        const durationMs = clock.monotonicMs() - startedMs;
        onInvoked({ tenantId, definitionId: reactorId, durationMs, isCold: false, failure: 'not_run' });
        return isOpened ? refused(underway, error) : Promise.reject(error);
      });
    const result = await conclusionOf(underway, run).catch((error: unknown) => refused(underway, error));
    const durationMs = clock.monotonicMs() - startedMs;
    const failure = failureClassOf(run.outcome, result.failure);
    onInvoked({ tenantId, definitionId: reactorId, durationMs, isCold: run.isCold, failure });
    return result;
  };
}

/** Room for large values is for moments, and a run may take half a minute; what it has in memory the instances bound. */
function giveRoomBack({ holder }: AuditContext): void {
  for (const release of holder?.held ?? []) release();
  if (holder) holder.held = undefined;
}

/** Values were handed over already, so the log says what became of them, whatever went wrong. */
async function refused(underway: Underway, error: unknown): Promise<never> {
  const { options, invocation } = underway;
  const failure = error instanceof AppError ? error : runtimeError('');
  const alone = { ...underway, conclude: undefined };
  await options.database.append(invocation.principal.tenantId, (tx) => concluded(alone, tx, { failure }));
  throw error;
}

async function conclusionOf(underway: Underway, { outcome }: Run): Promise<InvocationResult> {
  const { options, invocation } = underway;
  if (outcome.outcome !== 'returned') {
    return conclude(underway, { failure: failureOfRun(outcome, invocation.deadlineMs, options.headerPrefixes) });
  }
  const returned = (outcome.value ?? {}) as Json; // It came out of a parser.
  if (!isJsonObject(returned)) {
    const failure = runtimeError('The function must return an object with raw, tokenize or both.');
    return conclude(underway, { failure });
  }
  const { raw, tokenize } = returned;
  if ((tokenize ?? null) === null) return conclude(underway, { answer: raw === undefined ? {} : { raw } });
  try {
    return await tokenized(underway, raw, tokenize as Json);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return conclude(underway, { failure: error });
  }
}

/** A run may take long: what was taken from somebody meanwhile they do not have any more. */
async function stillThere(principals: KnownPrincipals, { tenantId, actor }: Invoker): Promise<Invoker> {
  const { type, id } = actor;
  const found = await (type === 'session' ? principals.session(tenantId, id) : principals.application(tenantId, id));
  if (found) return found;
  throw new AppError('access_denied', 'Whoever the tokens would be made for is gone, or has no rights any more.');
}

/** Tokens, log entry and whatever hangs on them are one transaction. */
async function tokenized(underway: Underway, raw: Json | undefined, tokenize: Json): Promise<InvocationResult> {
  const { options, invocation } = underway;
  const acting = await stillThere(options.principals, underway.application ?? invocation.principal);
  authorize(acting, { permission: 'token:create', admits: ['application', 'session'] });
  const atMs = options.clock.nowMs();
  const plan = readTokenizePlan(tokenize, { path: 'tokenize', nowMs: atMs }, options.tokensPerRequestMax);
  const answerWith = (tokens: Json): ReactAnswer => ({ tokens, ...(raw !== undefined && { raw }) });
  const auditContext: AuditContext = {
    ...invocation.auditContext,
    actor: acting.actor,
    atMs,
    // The vault calls it with the very value it resolves with, which is JSON.
    keepAnswer: (tx, tokens, shown) => concluded(underway, tx, { answer: answerWith(tokens as Json) }, shown),
  };
  return { answer: answerWith(await options.vault.tokenize(acting, auditContext, plan)) };
}

async function conclude(underway: Underway, result: InvocationResult): Promise<InvocationResult> {
  const { options, invocation } = underway;
  const { tenantId } = invocation.principal;
  const work = (tx: TenantTx) => concluded(underway, tx, result);
  // An entry alone takes a single round trip.
  await (underway.conclude ? options.database.write(tenantId, work) : options.database.append(tenantId, work));
  return result;
}

async function concluded(
  { options, invocation, version, conclude: andThen }: Underway,
  tx: TenantTx,
  result: InvocationResult,
  shown: readonly Shown[] = [],
): Promise<void> {
  const isDone = result.answer !== undefined;
  // Not when it was asked for: entries are in the order in which they can be seen.
  const auditContext = { ...invocation.auditContext, atMs: options.clock.nowMs() };
  await record(tx, auditContext, {
    event: isDone ? REACTOR_EVENTS.invoked : REACTOR_EVENTS.failed,
    entityId: invocation.reactorId,
    outcome: isDone ? 'success' : 'failure',
    entityVersion: version,
  });
  await andThen?.(tx, result, shown);
}
