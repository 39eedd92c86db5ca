import { applicationIdOf } from './access/principal.js';
import type { Core, CoreOptions } from './core.js';
import type { ReadinessOptions } from './http/routes/readiness.js';
import type { HttpServer, HttpServerOptions } from './http/server.js';
import type { JobRunner } from './jobs/runner.js';
import type { Clock } from './kernel/clock.js';
import type { LargeWork } from './kernel/large-work.js';
import { isNameLost, NAME_LOST_ADVICE } from './storage/faults.js';
import type { Metrics } from './telemetry/metrics.js';
import type { ProcessLog } from './telemetry/process-log.js';

interface Observed {
  readonly clock: Clock;
  readonly log: ProcessLog;
  readonly metrics: Metrics;
}

/** Asked every few seconds by whoever supervises the process: their lines would bury the others. */
const PROBES = new Set(['GET /healthz', 'GET /readyz']);

/** One line a request, and one for each thing an operator has to know about. */
export function requestTelemetry({
  clock,
  log,
  metrics,
}: Observed): Pick<HttpServerOptions, 'onAnswered' | 'onFault' | 'onUnauthenticated'> {
  return {
    onAnswered({ request, context }, status) {
      const elapsedMs = clock.monotonicMs() - context.startedAtMs;
      metrics.observeRequest(context.route, status, elapsedMs / 1_000);
      if (PROBES.has(context.route)) return;
      log.request({
        atMs: clock.nowMs(),
        method: request.method,
        route: context.route,
        status,
        ms: Math.round(elapsedMs * 100) / 100,
        address: context.sourceAddress,
        traceId: context.traceId,
        tenantId: context.principal?.tenantId,
        applicationId: context.principal && applicationIdOf(context.principal),
      });
    },
    onFault(error, traceId) {
      log.main.error({ err: error, ...adviceOn(error), traceId }, 'request failed');
    },
    onUnauthenticated(context, error) {
      const { traceId, sourceAddress: address, route } = context;
      log.security.warn({ event: 'unauthenticated', reason: error.code, traceId, address, route }, 'request refused');
    },
  };
}

/** For the line of a failure that lasts until the operator changes a setting. */
export function adviceOn(error: unknown): { readonly advice?: string } {
  return isNameLost(error) ? { advice: NAME_LOST_ADVICE } : {};
}

/** One line when probes begin to be told no, and one when they are told yes again. */
export function readinessObserver(log: ProcessLog): ReadinessOptions['onChange'] {
  return (isReady, cause) => {
    if (isReady) log.main.info('ready again');
    else log.main.warn({ err: cause }, 'not ready, the database does not answer');
  };
}

/** One line whenever the read replica begins to serve or is left alone. */
export function replicaObserver(log: ProcessLog): NonNullable<CoreOptions['onReplica']> {
  return (change) => {
    if (change.isServing) log.main.info('the read replica serves');
    else log.main.warn({ reason: change.reason }, 'the read replica is left alone, the primary is read instead');
  };
}

interface Gauged {
  readonly server: HttpServer;
  readonly jobs: JobRunner;
  readonly database: Core['database'];
  readonly largeWork: LargeWork;
  readonly remembered: () => number;
  readonly isHearing: () => boolean;
}

export function addGauges(metrics: Metrics, gauged: Gauged): void {
  const { server, jobs, database, largeWork, remembered, isHearing } = gauged;
  const gauge = (name: string, help: string, read: () => number, type: 'gauge' | 'counter' = 'gauge'): void =>
    metrics.addGauge({ name: `strongroom_${name}`, help, type, read });
  gauge('http_requests_in_flight', 'Requests being worked on.', server.inFlight);
  gauge('http_bodies_waiting', 'Requests whose body is still on its way.', server.bodiesWaiting);
  gauge('large_bytes_held', 'Memory set aside for requests on large values.', largeWork.bytes.taken);
  gauge('large_requests_waiting', 'Requests on large values that wait for memory.', largeWork.bytes.waiting);
  gauge('writes_pending', 'Changes waiting for their commit.', database.writesPending);
  gauge('silent_servers', 'Servers of a cluster that do not answer this process.', database.silentServers);
  gauge('credentials_remembered', 'API keys answered from memory.', remembered);
  gauge('changes_heard', '1 while changes of other processes are heard.', () => (isHearing() ? 1 : 0));
  gauge('purged_rows_total', 'Rows of deleted tenants removed by this process.', () => jobs.done('purge'), 'counter');
  if (database.replicaFigures() !== undefined) addReplicaGauges(metrics, database);
  const perJob = (name: string, help: string, read: () => ReadonlyMap<string, number>): void =>
    metrics.addGauge({ name: `strongroom_${name}`, help, type: 'counter', label: 'job', read });
  perJob('job_done_total', 'What background jobs did in this process, in rows.', () => jobs.totals().done);
  perJob('job_failures_total', 'Steps of background jobs that failed.', () => jobs.totals().failed);
  addProcessGauges(metrics);
}

export function addProcessGauges(metrics: Metrics): void {
  const name = 'strongroom_process_resident_memory_bytes';
  const help = 'Resident memory of this process.';
  metrics.addGauge({ name, help, type: 'gauge', read: () => process.memoryUsage.rss() });
  const cpu = { name: 'strongroom_process_cpu_seconds_total', help: 'CPU time of this process.' };
  metrics.addGauge({ ...cpu, type: 'counter', read: cpuSeconds });
}

function addReplicaGauges(metrics: Metrics, database: Core['database']): void {
  metrics.addGauge({
    name: 'strongroom_replica_reads_total',
    help: 'Reads answered by the read replica.',
    type: 'counter',
    read: () => database.replicaFigures()?.reads ?? 0,
  });
  metrics.addGauge({
    name: 'strongroom_replica_fallbacks_total',
    help: 'Reads meant for the read replica that the primary answered, by why.',
    type: 'counter',
    label: 'reason',
    read: () => database.replicaFigures()?.fallbacks ?? new Map(),
  });
  metrics.addGauge({
    name: 'strongroom_replica_serving',
    help: '1 while the read replica is asked.',
    type: 'gauge',
    read: () => (database.replicaFigures()?.isServing ? 1 : 0),
  });
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}
