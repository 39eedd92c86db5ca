import { createAuthenticate } from './access/authenticate.js';
import { CREDENTIAL_CACHE } from './access/cache.js';
import { createPortalCookieReader } from './access/portal-cookie-reader.js';
import { backgroundJobs } from './background.js';
import type { Config } from './config.js';
import type { Core } from './core.js';
import { listenTarget } from './core.js';
import { createExpressions } from './expressions/expressions.js';
import { createRunOnce } from './http/idempotency/idempotency.js';
import { operatorRoutes } from './http/operator-routes.js';
import { createCursors } from './http/paging/cursor.js';
import { createReadiness } from './http/routes/readiness.js';
import { createRequestAudit } from './http/routes/request-audit.js';
import type { HttpServer } from './http/server.js';
import { createHttpServer } from './http/server.js';
import type { JobRunner, JobSlot } from './jobs/runner.js';
import { startJobs } from './jobs/runner.js';
import type { Clock } from './kernel/clock.js';
import { createLargeWork } from './kernel/large-work.js';
import type { AskToCount } from './limits/asking-counter.js';
import { createRateCounting } from './rate-counting.js';
import { addGauges, adviceOn, readinessObserver, requestTelemetry } from './request-telemetry.js';
import type { AccessHooks } from './resources/applications/index.js';
import { createKeyUses, writeKeyUses } from './resources/applications/index.js';
import { createTenants, TENANT_CACHE, tokenSettings } from './resources/tenants/index.js';
import { tenantApiRoutes } from './resources.js';
import { listenForChanges, sendEcho } from './storage/changes.js';
import { createMemories } from './storage/memories.js';
import { ping } from './storage/readiness.js';
import type { Metrics } from './telemetry/metrics.js';
import type { ProcessLog } from './telemetry/process-log.js';
import { createVault } from './vault/index.js';
import { VERSION } from './version.js';

export interface AppOptions {
  readonly config: Config;
  readonly core: Pick<Core, 'database' | 'keyStore' | 'target'>;
  readonly clock: Clock;
  readonly log: ProcessLog;
  readonly metrics: Metrics;
  /** For one of several processes on a port: which one it is, and how it has requests counted. */
  readonly worker?: JobSlot & { readonly askKeeper: AskToCount };
  /** What time it is for background work; by the clocks of process and database unless told. */
  readonly upkeepTime?: (databaseMs: number) => number;
}

export interface App {
  readonly http: Pick<HttpServer, 'listen'>;
  /** From now on /readyz may say yes. */
  markReady(): void;
  /** Finishes requests and jobs. The database stays open. */
  close(): Promise<void>;
}

const REMEMBERED_MAX = 10_000;
const DEAF_WARNING =
  'notices of changes do not arrive, so nothing is remembered and every request asks the database; behind a proxy that pools connections set STRONGROOM_DATABASE_LISTEN_URL to the server itself, and where it is set check its host, login and password';

/** Builds everything once, by hand, and hands each part what it needs. */
export function createApp(options: AppOptions): App {
  const { config, core, clock, log, metrics } = options;
  const { database, keyStore } = core;
  let jobs: JobRunner | undefined;

  const changes = listenForChanges({
    target: listenTarget(config, core.target),
    sendEcho: (echo) => sendEcho(database, echo),
    onDeaf: () => log.main.warn(DEAF_WARNING),
    onChange: (change) => {
      memories.onChange(change);
      if (change.kind === 'access') keyStore.keyring.evict(change.tenantId);
    },
    onGap: () => {
      memories.forgetAll();
      keyStore.keyring.clear();
    },
  });
  keyStore.keyring.rememberOnlyWhile(changes.isHearing);
  const memories = createMemories({ entriesMax: REMEMBERED_MAX, isTrusted: changes.isHearing });
  const credentialMemory = memories.open(CREDENTIAL_CACHE);

  const tenants = createTenants({
    database,
    keyStore,
    memory: memories.open(TENANT_CACHE),
    forgetAccess: credentialMemory.forgetTenant,
    onDeleted: (tenantId, auditContext) => {
      log.security.warn(
        { event: 'tenant_deleted', tenantId, actor: auditContext.actor?.id, traceId: auditContext.traceId },
        'tenant deleted',
      );
      jobs?.wake('purge');
    },
  });
  const accessHooks: AccessHooks = {
    forgetAccess: credentialMemory.forgetTenant,
    onSecurity: ({ event, ...story }, auditContext) =>
      log.security.warn(
        { event: event.name, ...story, actor: auditContext.actor?.id, traceId: auditContext.traceId },
        'access changed',
      ),
    onIntegrityFault: (story) =>
      log.security.error({ event: 'integrity_fault', ...story }, 'stored rights were altered'),
  };
  const keyUses = createKeyUses({
    clock,
    write: (uses) => writeKeyUses(database, uses),
    onFault: (error) => log.main.warn({ err: error }, 'the last use of keys was not written, will try again'),
  });
  const largeWork = createLargeWork({ clock, isContended: () => server.inFlight() > largeWork.requests() });
  const vault = createVault({
    database,
    largeWork,
    keyring: keyStore.keyring,
    expressions: createExpressions(),
    tokensPerRequestMax: config.tokensPerRequestMax,
    fingerprints: config.fingerprints,
    searchData: config.searchData,
    settingsOf: (tenantId) => tokenSettings(tenants, tenantId),
    onIntegrityFault: (story) =>
      log.security.error({ event: 'integrity_fault', ...story }, 'a stored token was altered'),
  });
  const tenantRoutes = tenantApiRoutes({
    ...accessHooks,
    database,
    vault,
    tenants,
    systemKeys: keyStore.systemKeys,
    cursors: createCursors(keyStore.systemKeys.cursorMac),
    tokensPerRequestMax: config.tokensPerRequestMax,
    includedMonthlyActiveTokens: config.includedMonthlyActiveTokens,
  });
  const readiness = createReadiness({ ping: () => ping(database), onChange: readinessObserver(log) });

  const rateCounting = createRateCounting({
    config,
    clock,
    log,
    metrics,
    systemKeys: keyStore.systemKeys,
    askKeeper: options.worker?.askKeeper,
  });
  const server = createHttpServer({
    clock,
    headerPrefixes: config.headerPrefixes,
    trustedProxies: config.trustedProxies,
    rateCounter: rateCounting.counter,
    inFlightMax: config.requestsInFlightMax,
    largeWork,
    routes: [...tenantRoutes, ...operatorRoutes({ version: VERSION, checkReady: readiness.check }, tenantRoutes)],
    authenticate: createAuthenticate({
      database,
      memory: credentialMemory,
      clock,
      pepper: keyStore.systemKeys.apiKeyPepper,
      rowMacKey: keyStore.systemKeys.rowMac,
      sessionGrants: config.sessionGrants,
      noteUse: keyUses.note,
      onIntegrityFault: accessHooks.onIntegrityFault,
    }),
    // Nobody can sign in yet, so there are no sessions to ask.
    readPortalCookie: createPortalCookieReader(undefined),
    runOnce: createRunOnce({ database, keyring: keyStore.keyring, clock }),
    auditRequest: config.audit === 'full' ? createRequestAudit(database) : undefined,
    ...requestTelemetry(options),
  });

  jobs = startJobs({
    database,
    jobs: backgroundJobs({
      database,
      vault,
      clock,
      timeOf: options.upkeepTime,
      logRetentionMonths: config.logRetentionMonths,
      onLogsDropped: (dropped) =>
        log.security.warn({ event: 'logs_dropped', ...dropped }, 'a month of the log was past its retention'),
    }),
    clock,
    turn: options.worker,
    onFault: (name, error) =>
      log.main.warn({ job: name, err: error, ...adviceOn(error) }, 'job failed, will try again'),
  });

  addGauges(metrics, {
    server,
    jobs,
    database,
    largeWork,
    remembered: credentialMemory.size,
    isHearing: changes.isHearing,
  });
  const runningJobs = jobs;
  return {
    http: server,
    markReady: readiness.open,
    async close() {
      readiness.close();
      await server.close();
      rateCounting.close();
      await keyUses.close();
      await runningJobs.close();
      await changes.close();
    },
  };
}
