import type { KnownPrincipals } from './access/known-principals.js';
import { isPermission, isTokenPermission } from './access/permissions.js';
import type { Config } from './config.js';
import type { ReactorsReadiness } from './http/operator-routes.js';
import type { AnyRoute } from './http/routes/any-route.js';
import { isJsonRoute } from './http/routes/any-route.js';
import { createInsideCalls } from './http/routes/inside-calls.js';
import type { RouteRecord } from './http/routes/route.js';
import type { Clock } from './kernel/clock.js';
import type { Outbound } from './outbound/outbound.js';
import { createAnswerCode } from './resources/reactors/index.js';
import type { LateSandbox, LateSandboxOptions } from './sandbox/late-sandbox.js';
import { createLateSandbox } from './sandbox/late-sandbox.js';
import type { AnswerEngine } from './sandbox/run.js';
import type { SandboxState } from './sandbox/sandbox.js';
import { describeWall } from './sandbox/sandbox.js';
import type { Metrics } from './telemetry/metrics.js';
import type { ProcessLog } from './telemetry/process-log.js';

export interface TenantCodeOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: ProcessLog;
  readonly metrics: Metrics;
  readonly outbound: Outbound;
  readonly principals: KnownPrincipals;
  readonly createSandbox?: (options: LateSandboxOptions) => LateSandbox;
}

/** Where code of tenants runs, and what it reaches. */
export interface TenantCode {
  readonly sandbox: LateSandbox;
  /** The calls of the API that code can make come from these routes. Until then it can make none. */
  connect(routes: readonly AnyRoute[]): void;
  /** For probes. */
  readiness(): ReactorsReadiness;
}

function readinessOf(state: SandboxState | undefined): ReactorsReadiness {
  if (state === undefined) return { status: 'starting' };
  if (!state.isAvailable) return { status: 'unavailable', reason: state.reason };
  return { status: 'available', wall: describeWall(state) };
}

const CLIENT_NAME = 'client';

export function createTenantCode(options: TenantCodeOptions): TenantCode {
  const { config, clock, log, metrics, outbound, principals } = options;
  let answer: AnswerEngine = () => Promise.reject(new Error('nothing answers yet'));
  const [, ...furtherPrefixes] = config.headerPrefixes;
  const { createSandbox = createLateSandbox } = options;
  const sandbox = createSandbox({
    isOff: config.reactors === 'off',
    instancesMax: config.reactorInstancesMax,
    instancesPerTenantMax: config.reactorInstancesPerTenantMax,
    blanks: config.reactorBlanks,
    aliases: config.reactorModules,
    wall: { isJitless: config.reactorJit === 'off' },
    clientNames: [CLIENT_NAME, ...furtherPrefixes.map((prefix) => prefix.toLowerCase())],
    clock,
    answer: (by, request, signal) => answer(by, request, signal),
    onFault: (error) => log.main.warn({ err: error }, 'no process for code of a tenant could be started'),
    onOpened: (state) => tellOfWall(log, state),
  });
  addSandboxGauges(metrics, sandbox);
  return {
    sandbox,
    readiness: () => readinessOf(sandbox.state()),
    connect(routes) {
      const callInside = createInsideCalls(routes.filter(isJsonRoute).filter(isForCode), {
        onFault: (error, traceId) => log.main.error({ err: error, traceId }, 'a call of tenant code failed'),
      });
      answer = createAnswerCode({ outbound, principals, callInside, clock });
    },
  };
}

/**
 * Calls on tokens alone. Code cannot have code run: one call would otherwise be any number of them. What asks for a use of
 * tokens or for something else, as a preview does, is not for it either.
 */
export function isForCode({ permission }: RouteRecord): boolean {
  return isPermission(permission) && isTokenPermission(permission) && permission !== 'token:use';
}

function tellOfWall({ main }: ProcessLog, state: SandboxState): void {
  if (state.isAvailable) main.info({ wall: describeWall(state) }, 'code of tenants runs behind a wall');
  else main.warn({ reason: state.reason }, 'no code of tenants runs here: Reactors answer 503, everything else works');
}

function addSandboxGauges(metrics: Metrics, sandbox: LateSandbox): void {
  const gauge = (name: string, help: string, read: () => number, type: 'gauge' | 'counter' = 'gauge'): void =>
    metrics.addGauge({ name: `strongroom_sandbox_${name}`, help, type, read });
  gauge('instances', 'Processes with code of tenants.', () => sandbox.figures().instances);
  gauge('instances_busy', 'Those of them that run code now.', () => sandbox.figures().busy);
  gauge('blanks', 'Processes that wait for code.', () => sandbox.figures().blanks);
  gauge('calls_waiting', 'Calls that wait for a process.', () => sandbox.figures().waiting);
  gauge('cold_starts_total', 'Calls whose code had to be loaded first.', () => sandbox.figures().coldStarts, 'counter');
}
