import type { AuthenticateOptions } from './access/authenticate.js';
import { createAuthenticate } from './access/authenticate.js';
import type { KnownPrincipals, KnownPrincipalsOptions } from './access/known-principals.js';
import { createKnownPrincipals } from './access/known-principals.js';
import { backgroundJobs } from './background.js';
import type { Caches } from './caches.js';
import { createCaches } from './caches.js';
import type { Config } from './config.js';
import type { Core } from './core.js';
import type { PasswordCost } from './crypto/password-hash.js';
import { createExpressions } from './expressions/expressions.js';
import { createRunOnce } from './http/idempotency/idempotency.js';
import { operatorRoutes } from './http/operator-routes.js';
import { createCursors } from './http/paging/cursor.js';
import type { AnyRoute } from './http/routes/any-route.js';
import { isDocumented, isNotForPeople } from './http/routes/any-route.js';
import { createReadiness } from './http/routes/readiness.js';
import { createRequestAudit } from './http/routes/request-audit.js';
import type { HttpServer, HttpServerOptions } from './http/server.js';
import { createHttpServer } from './http/server.js';
import type { JobRunner, JobSlot } from './jobs/runner.js';
import { startJobs } from './jobs/runner.js';
import type { Clock } from './kernel/clock.js';
import type { LargeWork } from './kernel/large-work.js';
import { createLargeWork } from './kernel/large-work.js';
import type { AskToCount } from './limits/asking-counter.js';
import type { RateCounter } from './limits/rate-counter.js';
import type { Outbound, OutboundOptions } from './outbound/outbound.js';
import { createOutbound } from './outbound/outbound.js';
import { outboundRulesOf } from './people/oidc/issuers-file.js';
import type { PeopleParts } from './people-parts.js';
import { openPeople } from './people-parts.js';
import { createRateCounting } from './rate-counting.js';
import { addGauges, adviceOn, readinessObserver, requestTelemetry } from './request-telemetry.js';
import type { KeyUses } from './resources/applications/index.js';
import { createKeyUses, writeKeyUses } from './resources/applications/index.js';
import { createInvitationLinks } from './resources/invitations/index.js';
import type { ProxyFigures } from './resources/proxies/index.js';
import { createProxyFigures, writeProxyFigures } from './resources/proxies/index.js';
import type { ReactorFigures, ReactorQueue } from './resources/reactors/index.js';
import { createReactorFigures, startRequests, writeReactorFigures } from './resources/reactors/index.js';
import type { Tenants, TransferOwnership } from './resources/tenants/index.js';
import { createOwnershipTransfer, createTenants, tenantMaker, tokenSettings } from './resources/tenants/index.js';
import type { ResourceParts } from './resources.js';
import { tenantApiRoutes } from './resources.js';
import type { LateSandbox, LateSandboxOptions } from './sandbox/late-sandbox.js';
import type { SandboxState } from './sandbox/sandbox.js';
import type { SecurityLog } from './security-log.js';
import { createSecurityLog } from './security-log.js';
import { ping } from './storage/readiness.js';
import type { Metrics } from './telemetry/metrics.js';
import type { ProcessLog } from './telemetry/process-log.js';
import type { TenantCode } from './tenant-code.js';
import { createTenantCode } from './tenant-code.js';
import type { Vault } from './vault/index.js';
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
  /** In place of the wall, to measure what it takes. */
  readonly createSandbox?: (options: LateSandboxOptions) => LateSandbox;
  /** In place of name servers, the network and the bounds of every request, to see what would be reached. */
  readonly outboundWay?: OutboundWay;
  /** Lower in tests, which hash many passwords. */
  readonly passwordCost?: PasswordCost;
}

export type OutboundWay = Pick<OutboundOptions, 'resolve' | 'dial' | 'bounds'>;

export interface App {
  readonly http: Pick<HttpServer, 'listen'>;
  /** From now on /readyz may say yes. */
  markReady(): void;
  /** Finds out whether code of tenants can be run, and starts processes for it ahead. The first call does so otherwise. */
  openSandbox(): Promise<SandboxState>;
  /** Finishes requests and jobs. The database stays open. */
  close(): Promise<void>;
}

/** What most parts need besides the options. */
interface Shared extends AppOptions {
  readonly caches: Caches;
  readonly security: SecurityLog;
  readonly largeWork: LargeWork;
  readonly peopleParts: PeopleParts;
}

interface TenantApiParts extends Shared {
  readonly principals: KnownPrincipals;
  readonly tenantCode: TenantCode;
  readonly reactorFigures: ReactorFigures;
  readonly proxyFigures: ProxyFigures;
  readonly outbound: Outbound;
  /** Known once the server is built; undefined where limits are off. */
  readonly rateCounter: () => RateCounter | undefined;
}

/** Builds everything once, by hand, and hands each part what it needs. */
export function createApp(options: AppOptions): App {
  const { config, clock, log, metrics } = options;
  const { database, keyStore } = options.core;
  const caches = createCaches(options);
  const largeWork = createLargeWork({ clock, isContended: () => server.inFlight() > largeWork.requests() });
  const security = createSecurityLog(log);
  const outbound = openOutbound(options, security, largeWork);
  const peopleParts = openPeople({ ...options, outbound }, security);
  const shared: Shared = { ...options, caches, largeWork, security, peopleParts };
  const principals = createKnownPrincipals(accessParts(shared));
  const tenantCode = createTenantCode({ ...options, outbound, principals });
  const { keyUses, ...figures } = createWrittenBehind(shared);
  const rateCounter = (): RateCounter | undefined => rateCounting.counter;
  const parts = { ...shared, ...figures, principals, tenantCode, outbound, rateCounter };
  const { vault, routes, queue } = createTenantApi(parts, () => jobs.wake('purge'));
  tenantCode.connect(routes.filter(isNotForPeople));
  const readiness = createReadiness({ ping: () => ping(database), onChange: readinessObserver(log) });
  const rateCounting = createRateCounting({
    config,
    clock,
    log,
    metrics,
    systemKeys: keyStore.systemKeys,
    askKeeper: options.worker?.askKeeper,
  });
  const server = createServer(shared, {
    rateCounter: rateCounting.counter,
    noteUse: keyUses.note,
    routes: [
      ...routes,
      ...operatorRoutes(
        { version: VERSION, checkReady: readiness.check, reactors: tenantCode.readiness },
        routes.filter(isDocumented),
      ),
    ],
  });
  const jobs = startBackground(shared, vault);
  addGauges(metrics, {
    server,
    jobs,
    database,
    largeWork,
    remembered: caches.credentials.size,
    isHearing: caches.isHearing,
  });
  return {
    http: shared.peopleParts.whoseAddressIs(server),
    markReady: readiness.open,
    openSandbox: tenantCode.sandbox.open,
    async close() {
      readiness.close();
      await server.close();
      await Promise.all([queue.close(), tenantCode.sandbox.close(), outbound.close(), shared.peopleParts.close()]);
      rateCounting.close();
      await Promise.all([keyUses.close(), figures.reactorFigures.close(), figures.proxyFigures.close()]);
      await jobs.close();
      await caches.close();
    },
  };
}

/** What is counted while requests run, and written behind them. */
function createWrittenBehind({ clock, core: { database }, log }: Shared): {
  readonly keyUses: KeyUses;
  readonly reactorFigures: ReactorFigures;
  readonly proxyFigures: ProxyFigures;
} {
  const onFault = (what: string) => (error: unknown) =>
    log.main.warn({ err: error }, `${what} not written, will try again`);
  return {
    keyUses: createKeyUses({
      clock,
      write: (uses) => writeKeyUses(database, uses),
      onFault: onFault('the last use of keys was'),
    }),
    reactorFigures: createReactorFigures({
      clock,
      write: (growth) => writeReactorFigures(database, growth),
      onFault: onFault('figures of Reactors were'),
    }),
    proxyFigures: createProxyFigures({
      clock,
      write: (growth) => writeProxyFigures(database, growth),
      onFault: onFault('figures of Proxies were'),
    }),
  };
}

/** The vault, and every route on what belongs to tenants. */
function createTenantApi(
  parts: TenantApiParts,
  wakePurge: () => void,
): { readonly vault: Vault; readonly routes: AnyRoute[]; readonly queue: ReactorQueue } {
  const { config, clock, core, caches, security, largeWork, principals, tenantCode } = parts;
  const { database, keyStore } = core;
  const { keyring, systemKeys } = keyStore;
  const { tokensPerRequestMax, includedMonthlyActiveTokens, logRetentionMonths, audit } = config;
  const { forgetAccess } = caches;
  const tenants = createTenants({
    database,
    keyStore,
    memory: caches.tenants,
    forgetAccess,
    onDeleted(tenantId, auditContext) {
      security.onTenantDeleted(tenantId, auditContext);
      wakePurge();
    },
  });
  const vault = createTenantVault(parts, tenants);
  const resources: ResourceParts = {
    forgetAccess,
    ...security,
    onIntegrityFault: security.onRightsAltered,
    ...parts.peopleParts.ofResources,
    tenantNameOf: async (tenantId) => (await tenants.get(tenantId)).name,
    tenantMaker: () => tenantMaker(keyStore),
    transferOwnership: transferOf(parts),
    invitationLinks: createInvitationLinks({ database, systemKeys, forgetAccess }),
    proxyMemory: caches.proxies,
    reactorMemory: caches.reactors,
    database,
    clock,
    keyring,
    vault,
    principals,
    sandbox: tenantCode.sandbox,
    ...{ outbound: parts.outbound, rateCounter: parts.rateCounter, proxyBodyBytesMax: config.proxyBodyBytesMax },
    ...{ reactorFigures: parts.reactorFigures, proxyFigures: parts.proxyFigures },
    largeWork,
    queue: { nowMs: () => queue.nowMs(), wake: () => queue.wake(), end: (requestId) => queue.end(requestId) },
    headerPrefixes: config.headerPrefixes,
    tenants,
    systemKeys,
    cursors: createCursors(systemKeys.cursorMac),
    ...{ tokensPerRequestMax, includedMonthlyActiveTokens, logRetentionMonths, isAuditedInFull: audit === 'full' },
  };
  const queue = startQueue(parts, resources);
  return { vault, queue, routes: tenantApiRoutes(resources) };
}

function createTenantVault({ config, core, largeWork, security }: TenantApiParts, tenants: Tenants): Vault {
  return createVault({
    database: core.database,
    largeWork,
    keyring: core.keyStore.keyring,
    expressions: createExpressions(),
    tokensPerRequestMax: config.tokensPerRequestMax,
    fingerprints: config.fingerprints,
    searchData: config.searchData,
    searchTriesPerDay: config.searchTriesPerDay,
    settingsOf: (tenantId) => tokenSettings(tenants, tenantId),
    onSearchBound: security.onSearchBound,
    onIntegrityFault: security.onTokenAltered,
  });
}

function transferOf({ core, caches, security }: TenantApiParts): TransferOwnership {
  return createOwnershipTransfer({
    ...{ database: core.database, systemKeys: core.keyStore.systemKeys, ...security },
    forgetTenant(tenantId) {
      caches.tenants.forgetTenant(tenantId);
      caches.forgetAccess(tenantId);
    },
  });
}

/** What runs calls of Reactors that were taken on. */
function startQueue({ config, log, metrics, outbound, upkeepTime }: TenantApiParts, resources: ResourceParts) {
  const queue = startRequests({
    ...resources,
    outbound,
    instancesMax: config.reactorInstancesMax,
    instancesPerTenantMax: config.reactorInstancesPerTenantMax,
    timeOf: upkeepTime,
    onFault: (error) => log.main.warn({ err: error }, 'work on queued calls of Reactors failed, will try again'),
  });
  for (const gauge of queue.gauges) metrics.addGauge(gauge);
  return queue;
}

function createServer(
  shared: Shared,
  { noteUse, ...given }: Pick<HttpServerOptions, 'routes' | 'rateCounter'> & Pick<AuthenticateOptions, 'noteUse'>,
): HttpServer {
  const { config, clock, largeWork } = shared;
  const { database, keyStore } = shared.core;
  return createHttpServer({
    ...given,
    clock,
    headerPrefixes: config.headerPrefixes,
    trustedProxies: config.trustedProxies,
    inFlightMax: config.requestsInFlightMax,
    largeWork,
    authenticate: createAuthenticate({ ...accessParts(shared), pepper: keyStore.systemKeys.apiKeyPepper, noteUse }),
    ...shared.peopleParts.doors,
    runOnce: createRunOnce({ database, keyring: keyStore.keyring, clock }),
    auditRequest: config.audit === 'full' ? createRequestAudit(database) : undefined,
    ...requestTelemetry(shared),
  });
}

/** What rights are read with. */
function accessParts({
  config,
  clock,
  core: { database, keyStore },
  caches,
  security,
}: Shared): KnownPrincipalsOptions {
  return {
    database,
    memory: caches.credentials,
    clock,
    rowMacKey: keyStore.systemKeys.rowMac,
    sessionGrants: config.sessionGrants,
    onIntegrityFault: security.onRightsAltered,
  };
}

/** The way out for code of tenants, and to issuers that vouch for people. */
function openOutbound(
  { config, clock, metrics, outboundWay }: AppOptions,
  security: SecurityLog,
  { paced }: LargeWork,
): Outbound {
  const outbound = createOutbound({
    rules: { allow: config.outboundAllow, deny: config.outboundDeny, public: config.outboundPublic },
    tenants: config.outboundTenants ?? new Map(),
    product: outboundRulesOf(config.oidcIssuers ?? []),
    authorities: config.outboundAuthorities ?? [],
    requestsMax: config.outboundRequestsMax,
    clock,
    onRefused: security.onOutboundRefused,
    pace: paced.run,
    ...outboundWay,
  });
  for (const gauge of outbound.gauges) metrics.addGauge(gauge);
  return outbound;
}

function startBackground({ config, core, clock, log, security, worker, upkeepTime }: Shared, vault: Vault): JobRunner {
  const { database } = core;
  return startJobs({
    database,
    jobs: backgroundJobs({
      database,
      vault,
      clock,
      timeOf: upkeepTime,
      logRetentionMonths: config.logRetentionMonths,
      onLogsDropped: security.onLogsDropped,
    }),
    clock,
    turn: worker,
    onFault: (name, error) =>
      log.main.warn({ job: name, err: error, ...adviceOn(error) }, 'job failed, will try again'),
  });
}
