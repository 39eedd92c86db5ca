import type pg from 'pg';
import type { Secret } from '../kernel/secret.js';
import type { Address, Host, SessionAttrs } from './address.js';
import { parseAddress, sessionAttrsOf } from './address.js';
import { isAftermath, translateDriverFault } from './faults.js';
import type { Role } from './scope.js';
import { distributedScope, ENTER_DISTRIBUTED_SCOPE, ENTER_PLANNED_SCOPE, ENTER_SCOPE } from './scope.js';
import type { Statement, Value } from './statement.js';
import { createTlsSource } from './tls.js';
import { VALUE_TYPES } from './value-types.js';

/** Where the server is and who signs in. */
export type ConnectionTarget =
  | {
      readonly url: Secret<string>;
      /** Which hosts will do where the address itself says nothing. */
      readonly sessionAttrs?: SessionAttrs;
    }
  | SocketTarget;

export interface SocketTarget {
  readonly socketDir: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export interface TimeBounds {
  readonly acquireMs: number;
  readonly statementMs: number;
  readonly lockMs: number;
  /** How long a read may wait for its turn among those of its tenant; 5 s without it. */
  readonly turnMs?: number;
}

export const DEFAULT_TIME_BOUNDS: TimeBounds = { acquireMs: 3_000, statementMs: 5_000, lockMs: 3_000 };

/** Past the server's own bound, so that it fires only when the server does not answer at all. */
const SILENCE_GRACE_MS = 2_000;
const APPLICATION_NAME = 'strongroom';
/** With several hosts a connection may take one attempt, a look at all hosts and another attempt. */
const ATTEMPTS = 3;

/** The hosts a target names, and how to connect to each. */
export interface Endpoints {
  readonly hosts: readonly [Host, ...Host[]];
  readonly sessionAttrs: SessionAttrs;
  isEncrypted(host: Host): boolean;
  configFor(host: Host, bounds: TimeBounds): pg.ClientConfig;
}

export function endpointsOf(target: ConnectionTarget): Endpoints {
  if (!('url' in target)) {
    const { socketDir, port, user, database } = target;
    return {
      hosts: [{ host: socketDir, port }],
      sessionAttrs: 'any',
      isEncrypted: () => false,
      configFor: (host, bounds) => ({ ...host, user, database, ssl: false, ...boundConfig(bounds, bounds.acquireMs) }),
    };
  }
  const address = parseAddress(target.url.reveal());
  const tls = createTlsSource(address.tls);
  const isEncrypted = ({ host }: Host): boolean => !host.startsWith('/') && address.tls.mode !== 'disable';
  return {
    hosts: address.hosts,
    sessionAttrs: address.sessionAttrs ?? target.sessionAttrs ?? sessionAttrsOf(address),
    isEncrypted,
    configFor: (host, bounds) => ({
      ...host,
      ...loginConfig(address),
      ssl: isEncrypted(host) ? tls() : false,
      ...boundConfig(bounds, attemptMs(address, bounds)),
      ...(address.applicationName !== undefined && { application_name: address.applicationName }),
    }),
  };
}

/** For a client that needs no choice among hosts. */
export function clientConfig(target: ConnectionTarget, bounds: TimeBounds): pg.ClientConfig {
  const { hosts, configFor } = endpointsOf(target);
  return configFor(hosts[0], bounds);
}

function attemptMs({ hosts, connectTimeoutMs }: Address, { acquireMs }: TimeBounds): number {
  const share = hosts.length > 1 ? Math.ceil(acquireMs / ATTEMPTS) : acquireMs;
  return Math.min(share, connectTimeoutMs ?? share);
}

function boundConfig(bounds: TimeBounds, connectionTimeoutMillis: number): pg.ClientConfig {
  return {
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis,
    query_timeout: bounds.statementMs + SILENCE_GRACE_MS,
    keepAlive: true,
    types: VALUE_TYPES,
  };
}

function loginConfig({ user, password, database }: Address): pg.ClientConfig {
  return {
    user,
    database,
    // Without this the driver would look for a password in the environment and in files.
    password:
      password?.reveal() ??
      (() => Promise.reject(new Error('the server asks for a password, and the address has none'))),
  };
}

/**
 * Everything sent in this turn of the event loop leaves in one write instead of one system call each. The stream is
 * internal to the driver; if a release hides it, only the saving is lost.
 */
function sendTogether(client: pg.ClientBase): void {
  const { connection } = client as { connection?: { stream?: { cork?(): void; uncork(): void } } };
  const stream = connection?.stream;
  if (stream?.cork === undefined) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/**
 * Breaks a connection at once, with whatever waits for an answer on it: its own end would wait for that. Where the driver hides
 * the stream, what waits goes on until its time is over.
 */
export function breakConnection(client: pg.ClientBase): void {
  const { connection } = client as { connection?: { stream?: { destroy?(): void } } };
  connection?.stream?.destroy?.();
}

/** How statements are put to a database. */
export interface Dialect {
  /** False where a proxy cannot keep prepared statements: they then have no names. */
  readonly isPrepared: boolean;
  /** Citus has spread the tables over servers. */
  readonly isDistributed: boolean;
}

const USUAL: Dialect = { isPrepared: true, isDistributed: false };

/** Runs a statement, prepared under its name unless told otherwise; what the driver throws leaves here translated. */
export async function runStatement<Row>(
  client: pg.ClientBase,
  statement: Statement<Row>,
  values: readonly Value[],
  dialect: Dialect = USUAL,
): Promise<Row[]> {
  if (statement.only !== undefined && (statement.only === 'distributed') !== dialect.isDistributed) return [];
  sendTogether(client);
  try {
    const result = await client.query(queryOf(statement, [...values], dialect));
    return result.rows as Row[]; // The statement's definition names the columns it selects.
  } catch (error) {
    const fault = translateDriverFault(error);
    // The statement that made the transaction fail was answered before: whoever waits for both has to hear of that one first.
    if (isAftermath(fault)) await new Promise((resolve) => setImmediate(resolve));
    throw fault;
  }
}

/** Who the login becomes for a transaction, and whose rows it sees. */
export interface Scope {
  readonly role: Role;
  readonly tenants: readonly string[];
  readonly isReadOnly: boolean;
  /** Of these, the deleted ones whose rows may be removed; on a distributed database, where policies cannot tell. */
  readonly doomed?: readonly string[];
  /** Its statements have one plan for all values; see `ENTER_PLANNED_SCOPE`. */
  readonly isPlannedOnce?: boolean;
}

/** Sends BEGIN and the scope without waiting: the statements that follow travel in the same round trip. */
export function openScope(
  client: pg.ClientBase,
  scope: Scope,
  bounds: TimeBounds,
  dialect: Dialect = USUAL,
): Promise<unknown> {
  sendTogether(client);
  const { role, tenants, doomed = [], isPlannedOnce = false } = scope;
  // A read-only transaction reads one snapshot, so that a page and its total never contradict each other.
  const begin = scope.isReadOnly ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN';
  const timeouts = [String(bounds.statementMs), String(bounds.lockMs), String(bounds.statementMs)];
  const { isDistributed } = dialect;
  const begun = client.query(isDistributed ? `${begin}; ${distributedScope(tenants, doomed)}` : begin);
  const entered = isDistributed
    ? client.query(queryOf(ENTER_DISTRIBUTED_SCOPE, [role, ...timeouts], dialect))
    : client.query(
        queryOf(isPlannedOnce ? ENTER_PLANNED_SCOPE : ENTER_SCOPE, [role, tenants.join(','), ...timeouts], dialect),
      );
  const opened = Promise.all([begun, entered]).catch((error: unknown) => {
    throw translateDriverFault(error);
  });
  // Awaited by the caller after its own statements, which fail too; until then the rejection is not unhandled.
  opened.catch(() => {});
  return opened;
}

/** A proxy that pools transactions and does not know names cannot keep a prepared statement for us. */
function queryOf<Row>(
  { name, text: plain, distributed = plain }: Statement<Row>,
  values: Value[],
  { isPrepared, isDistributed }: Dialect,
): pg.QueryConfig<Value[]> {
  const text = isDistributed ? distributed : plain;
  return isPrepared ? { name, text, values } : { text, values };
}
