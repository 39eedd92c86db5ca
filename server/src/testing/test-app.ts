import { Writable } from 'node:stream';
import type { RuleDraft } from '../access/check-rules.js';
import type { ApplicationType } from '../access/permissions.js';
import { permissionsOf } from '../access/permissions.js';
import type { App, AppOptions } from '../app.js';
import { createApp } from '../app.js';
import { operatorContext } from '../audit/entry.js';
import { ensureLogPartitions } from '../audit/partitions.js';
import { readConfig } from '../config.js';
import { databaseOptions } from '../core.js';
import type { KeyStore } from '../crypto/key-store.js';
import { openKeyStore } from '../crypto/key-store.js';
import { generateRootKey } from '../crypto/root-key.js';
import type { Clock } from '../kernel/clock.js';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import type { Secret } from '../kernel/secret.js';
import { replicaObserver } from '../request-telemetry.js';
import { createApplication } from '../resources/applications/index.js';
import { createTenant, tenantMaker } from '../resources/tenants/index.js';
import type { ConnectionTarget, TimeBounds } from '../storage/connection.js';
import { DEFAULT_TIME_BOUNDS } from '../storage/connection.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import type { Metrics } from '../telemetry/metrics.js';
import { createMetrics } from '../telemetry/metrics.js';
import { createProcessLog } from '../telemetry/process-log.js';
import type { Call } from './http-client.js';
import { createCaller } from './http-client.js';
import type { TestDatabase } from './test-database.js';
import { createTestDatabase } from './test-database.js';

export interface TestTenant {
  readonly id: string;
  readonly ownerId: string;
  /** Key of a management Application with every management permission. */
  readonly key: string;
}

export interface TestApp {
  readonly baseUrl: string;
  readonly port: number;
  readonly call: Call;
  readonly db: TestDatabase;
  readonly database: Database;
  readonly keyStore: KeyStore;
  readonly metrics: Metrics;
  /** Lines of the process log, as text. */
  readonly logLines: string[];
  makeTenant(name?: string): Promise<TestTenant>;
  /** Returns the key. */
  makeKey(
    tenantId: string,
    type: ApplicationType,
    permissions: readonly string[],
    rules?: readonly RuleDraft[],
  ): Promise<string>;
  /** Its id and its key. */
  makeApplication(
    tenantId: string,
    type: ApplicationType,
    permissions: readonly string[],
    rules?: readonly RuleDraft[],
  ): Promise<{ readonly id: string; readonly key: string }>;
  close(): Promise<void>;
}

export interface TestAppOptions {
  /** Settings by variable name; rate limits are off unless asked for. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** A second process on the same database: takes over its data and its root key. */
  readonly beside?: { readonly db: TestDatabase; readonly rootKey: Secret<string> };
  /** Sign in as somebody else, to see what a wall holds. */
  readonly target?: (db: TestDatabase) => ConnectionTarget;
  readonly replica?: ConnectionTarget;
  /** It listens and nobody has said yet that it is ready. */
  readonly isStarting?: boolean;
  /** How long the database may take; longer than the product allows, unless something stands in for it. */
  readonly bounds?: TimeBounds;
  /** A batch has changes of one tenant alone, so that its scope names no other tenant. */
  readonly isByTenant?: true;
  /** What stands in for name servers and the network. */
  readonly outboundWay?: AppOptions['outboundWay'];
}

/** A guess costs next to nothing here. */
export const TEST_PASSWORD_COST = { workFactor: 10, blockSize: 8, parallel: 1 };

/** On a machine that many tests share, a request waits for the others; it is not what they are about. */
export const PATIENT_BOUNDS: TimeBounds = { acquireMs: 12_000, statementMs: 15_000, lockMs: 6_000, turnMs: 60_000 };

const ROOT_KEYS = new WeakMap<TestDatabase, Secret<string>>();

/** The root key of an app under test, for starting another one beside it. */
export function rootKeyOf(app: TestApp): Secret<string> {
  const key = ROOT_KEYS.get(app.db);
  if (!key) throw new Error('this database has no app yet');
  return key;
}

/** The whole product on a database of its own, listening on a free port. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const clock = options.clock ?? systemClock;
  const config = readConfig({
    STRONGROOM_PORT: '0',
    STRONGROOM_RATE_LIMITS: 'off',
    STRONGROOM_LOG_LEVEL: 'trace',
    ...options.env,
  });
  const db = options.beside?.db ?? (await createTestDatabase());
  const rootKey = options.beside?.rootKey ?? generateRootKey();
  ROOT_KEYS.set(db, rootKey);
  const target = options.target?.(db) ?? db.target;
  const logLines: string[] = [];
  const log = createProcessLog({ level: config.logLevel, destination: linesInto(logLines) });
  const replica = options.replica && { target: options.replica, onChange: replicaObserver(log) };
  const bounds = options.bounds ?? (options.target || options.replica ? DEFAULT_TIME_BOUNDS : PATIENT_BOUNDS);
  const { isDistributed = false } = db;
  const behavior = { isDistributed, isByTenant: options.isByTenant, replica, bounds };
  const database = createDatabase({ target, clock, ...databaseOptions(config), ...behavior });
  const { keyStore } = await openKeyStore(database, { value: rootKey, isProduction: false });
  await ensureLogPartitions(database, clock.nowMs());
  const metrics = createMetrics();
  const app: App = createApp({
    config,
    core: { database, keyStore, target },
    clock,
    log,
    metrics,
    // A clock turned by hand is ahead of the database on purpose.
    ...(options.clock && { upkeepTime: () => clock.nowMs() }),
    ...(options.outboundWay && { outboundWay: options.outboundWay }),
    passwordCost: TEST_PASSWORD_COST,
  });
  const port = await app.http.listen('127.0.0.1', 0);
  if (!options.isStarting) app.markReady();
  const baseUrl = `http://127.0.0.1:${port}`;

  return {
    baseUrl,
    port,
    call: createCaller(baseUrl),
    db,
    database,
    keyStore,
    metrics,
    logLines,
    ...makersOf(database, keyStore, clock),
    async close() {
      await app.close();
      await database.close();
      if (!options.beside) await db.drop();
    },
  };
}

/** What tests begin with, made past the API. */
function makersOf(
  database: Database,
  keyStore: KeyStore,
  clock: Clock,
): Pick<TestApp, 'makeTenant' | 'makeApplication' | 'makeKey'> {
  const makeApplication: TestApp['makeApplication'] = async (tenantId, type, permissions, rules) => {
    const auditContext = operatorContext(clock.nowMs());
    const { id, key } = await database.write(tenantId, (tx) =>
      createApplication(tx, keyStore.systemKeys, auditContext, {
        name: `${type} under test`,
        type,
        permissions,
        rules,
      }),
    );
    return { id, key: key.reveal() };
  };
  const makeKey: TestApp['makeKey'] = async (...application) => (await makeApplication(...application)).key;

  return {
    makeKey,
    makeApplication,
    async makeTenant(name = 'Tenant under test') {
      const id = newId();
      const ownerId = newId();
      const auditContext = operatorContext(clock.nowMs());
      const maker = await tenantMaker(keyStore);
      await database.write(id, (tx) => createTenant(tx, maker, auditContext, { name, ownerId, isNewOwner: true }));
      return { id, ownerId, key: await makeKey(id, 'management', permissionsOf('management')) };
    },
  };
}

function linesInto(lines: string[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
}
