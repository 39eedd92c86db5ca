import type { Config } from '../config.js';
import { readConfig, settingsAdvice, unknownSettings } from '../config.js';
import { asExit, databaseOptions, listenTarget, rootKeySource, storageOptions } from '../core.js';
import { examineKeys } from '../crypto/key-store.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { examineSandbox } from '../sandbox/examine.js';
import { describeWall } from '../sandbox/sandbox.js';
import type { ConnectionTarget } from '../storage/connection.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import type { ClusterFacts } from '../storage/distribution/examine-cluster.js';
import { examineCluster } from '../storage/distribution/examine-cluster.js';
import { holdsCluster } from '../storage/embedded/data-folder.js';
import { refuseUnfitLogin } from '../storage/login.js';
import { openStorage } from '../storage/open-storage.js';
import { examineOwner } from '../storage/owner-rights.js';
import { refuseOldSchema } from '../storage/readiness.js';
import { examineServer, hearsNotices } from '../storage/server-facts.js';
import type { Command, Output } from './command.js';
import { describeMailsWaiting, describePeople } from './doctor-people.js';
import { sayWaiting } from './with-core.js';

const DEAF =
  'warning  notices: changes of other processes are not heard, so nothing is remembered. Behind a proxy that pools ' +
  'connections set STRONGROOM_DATABASE_LISTEN_URL to the server itself; where it is set check host, login and password';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check settings, mail, issuers, database and root key, say what is wrong, change nothing',
  flags: {},
  run: async (_flags, output) => {
    let config: Config | undefined;
    const settings = await check(output, 'settings', async () => {
      config = readConfig();
      const unknown = unknownSettings();
      return unknown.length === 0 ? 'usable' : `usable; not known and ignored: ${unknown.join(', ')}`;
    });
    if (config === undefined) return settings;
    const level = config.env === 'production' ? 'warning' : 'ok     ';
    for (const advice of settingsAdvice(config)) output.print(`${level}  advice: ${advice}`);
    output.print(await describeReactors(config));
    for (const line of await describePeople(config)) output.print(line);
    if (config.databaseUrl === undefined && !(await holdsCluster(config.dataDir))) {
      output.print(`ok       database: none in ${config.dataDir} yet, the first start makes it`);
      return EXIT.ok;
    }
    return withTarget(config, (known, target) => examine(output, known, target));
  },
};

async function examine(output: Output, config: Config, target: ConnectionTarget): Promise<number> {
  const isByAddress = config.databaseUrl !== undefined;
  const server = isByAddress ? await check(output, 'server', () => describeServer(target)) : EXIT.ok;
  if (server !== EXIT.ok) return server;
  let database: Database | undefined;
  let cluster: ClusterFacts | undefined;
  try {
    const schema = await check(output, 'database', async () => {
      const { isDistributed } = await refuseUnfitLogin(target);
      database = createDatabase({ target, clock: systemClock, ...databaseOptions(config), isDistributed });
      await refuseOldSchema(database);
      if (isDistributed) cluster = await examineCommits(await examineCluster(target), database);
      return 'it answers, the schema fits, the login cannot look past row-level security';
    });
    for (const line of describeCluster(cluster)) output.print(line);
    return schema === EXIT.ok && database ? await examineContent(output, config, target, database) : schema;
  } finally {
    await database?.close();
  }
}

async function examineContent(
  output: Output,
  config: Config,
  target: ConnectionTarget,
  database: Database,
): Promise<number> {
  output.print(await describeMailsWaiting(config, database));
  if (config.databaseUrl !== undefined) {
    const isHeard = await hearsNotices(listenTarget(config, target), database);
    output.print(isHeard ? 'ok       notices: changes of other processes are heard' : DEAF);
  }
  if (config.migrationDatabaseUrl !== undefined) {
    const advice = await examineOwner({ url: config.migrationDatabaseUrl });
    for (const sentence of advice) output.print(`warning  owner: ${sentence}`);
  }
  return check(output, 'root key', async () => {
    const found = await examineKeys(database, rootKeySource(config));
    for (const warning of found?.warnings ?? []) output.print(`warning  ${warning}`);
    return found ? `${found.rootKeyId} opens this database` : 'not used yet, the first start seals the database';
  });
}

/** Whether each server commits as well. */
async function examineCommits(cluster: ClusterFacts, database: Database): Promise<ClusterFacts> {
  try {
    await database.confirmServers();
    return cluster;
  } catch {
    return { ...cluster, faults: [...cluster.faults, UNCOMMITTED] };
  }
}

const UNCOMMITTED =
  'Not every server of the cluster commits a change in time, or not all of them answer. Changes of the tenants there are refused, ' +
  'and no new month of the log is made. Look on each for a disk that is full or slow and for a synchronous standby that is lost.';

function describeCluster(cluster: ClusterFacts | undefined): string[] {
  if (cluster === undefined) return [];
  const { servers, faults } = cluster;
  if (faults.length === 0)
    return [`ok       cluster: Citus has spread the tables over ${servers} servers, all of which answer`];
  return faults.map((fault) => `warning  cluster: ${fault}`);
}

/** Runs code once, because only that proves it. What keeps it from running keeps nothing else from being served. */
async function describeReactors({ reactors }: Config): Promise<string> {
  if (reactors === 'off') return 'ok       reactors: turned off by STRONGROOM_REACTORS, invocations are 503';
  const found = await examineSandbox();
  return found.isAvailable
    ? `ok       reactors: code of tenants runs behind a wall (${describeWall(found)})`
    : `warning  reactors: no code of tenants runs here, invocations are 503: ${found.reason}`;
}

async function describeServer(target: ConnectionTarget): Promise<string> {
  const { version, host, hostsGiven, isEncrypted } = await examineServer(target);
  const chosen = hostsGiven > 1 ? `${host}, chosen of ${hostsGiven} hosts` : host;
  return `PostgreSQL ${version} at ${chosen}, TLS ${isEncrypted ? 'on' : 'off'}`;
}

async function withTarget(
  config: Config,
  act: (config: Config, target: ConnectionTarget) => Promise<number>,
): Promise<number> {
  const quiet = { log: () => {}, onLost: () => {}, mayJoin: true, onWait: sayWaiting };
  const storage = await openStorage(
    storageOptions({ config, clock: systemClock, command: 'strongroom doctor', ...quiet }),
  );
  try {
    return await act(config, storage.target);
  } finally {
    await storage.close();
  }
}

async function check(output: Output, what: string, look: () => Promise<string>): Promise<number> {
  try {
    output.print(`ok       ${what}: ${await look()}`);
    return EXIT.ok;
  } catch (error) {
    const fault = asExit(error);
    if (!(fault instanceof ExitError)) throw error;
    output.print(`FAULT    ${what}: ${fault.message}`);
    return fault.exitCode;
  }
}
