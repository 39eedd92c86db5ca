import { mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { Account } from './account.js';
import type { Binaries } from './binaries.js';
import { type Program, runBound } from './bound-child.js';
import type { ChosenAccount } from './choose-account.js';
import type { DataFolder } from './data-folder.js';
import { ifPresent } from './error-code.js';
import { handOver } from './ownership.js';
import { DATABASE, OWNER_ROLE } from './server-settings.js';

const STEP_LIMIT_MS = 120_000;

/** Leaves a whole cluster that this server can open and its account owns. */
export async function prepareCluster(folder: DataFolder, binaries: Binaries, account: ChosenAccount): Promise<void> {
  await removeUnfinished(folder);
  const version = await ifPresent(readFile(join(folder.cluster, 'PG_VERSION'), 'utf8'));
  if (version !== undefined) {
    refuseOtherMajor(folder, Number.parseInt(version, 10), account.serverMajor);
    return handOver(folder.cluster, account);
  }
  const content = await ifPresent(readdir(folder.cluster));
  if (content !== undefined && content.length > 0) throw notACluster(folder);
  await createCluster(folder, binaries, account);
}

/** Made beside and renamed when whole, so that what an interruption leaves never passes for a database. */
async function createCluster(folder: DataFolder, binaries: Binaries, account: Account): Promise<void> {
  const unfinished = await mkdtemp(unfinishedPrefix(folder));
  await handOver(unfinished, account);
  const steps = creationSteps(binaries, unfinished);
  for (const { path, args, stdin } of steps) {
    const outcome = await runBound(account, { path, args, libraries: binaries.libraries }, STEP_LIMIT_MS, stdin);
    if (outcome.isSuccess) continue;
    await removeUnfinished(folder);
    throw new ExitError(EXIT.unavailable, `The database could not be made in ${folder.root}: ${outcome.stderr}`);
  }
  await rename(unfinished, folder.cluster);
  const parent = await open(folder.root);
  await parent.sync();
  await parent.close();
}

/** Nothing is synced on the way and everything at the end: faster, and as durable at the moment of the rename. */
function creationSteps({ initdb, postgres }: Binaries, cluster: string): (Program & { stdin?: string })[] {
  const make = ['-U', OWNER_ROLE, '--auth=trust', '--encoding=UTF8', '--locale=C', '--data-checksums', '--no-sync'];
  const single = ['--single', '-D', cluster, '-c', 'fsync=off', '-c', 'exit_on_error=on', 'postgres'];
  return [
    { path: initdb, args: ['-D', cluster, ...make] },
    { path: postgres, args: single, stdin: `CREATE DATABASE ${DATABASE} STRATEGY file_copy\n` },
    { path: initdb, args: ['-D', cluster, '--sync-only'] },
  ];
}

function unfinishedPrefix(folder: DataFolder): string {
  return `${folder.cluster}.new-`;
}

/** An orphan of the interrupted try may write for another moment. */
async function removeUnfinished(folder: DataFolder): Promise<void> {
  const prefix = basename(unfinishedPrefix(folder));
  for (const name of await readdir(folder.root)) {
    if (!name.startsWith(prefix)) continue;
    await rm(join(folder.root, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

function refuseOtherMajor(folder: DataFolder, cluster: number, server: number): void {
  if (cluster === server) return;
  throw new ExitError(
    EXIT.configuration,
    `The database in ${folder.cluster} was made by PostgreSQL ${cluster}, and this server is PostgreSQL ${server}. ` +
      `Set STRONGROOM_POSTGRES_BIN_DIR to the folder with the programs of PostgreSQL ${cluster}, or move the data ` +
      'with a dump.',
  );
}

function notACluster(folder: DataFolder): ExitError {
  return new ExitError(
    EXIT.configuration,
    `${folder.cluster} is not empty and not a PostgreSQL database. Move it out of ${dirname(folder.cluster)}, or set ` +
      'STRONGROOM_DATA_DIR to another folder.',
  );
}
