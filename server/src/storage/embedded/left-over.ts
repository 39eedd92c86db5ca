import { rm } from 'node:fs/promises';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { findClusterProcesses, findParent } from './cluster-processes.js';
import type { DataFolder } from './data-folder.js';
import { inUse, isAlive, readLivingHolder } from './lock.js';
import { postmasterFilePath, readPostmasterFile } from './postmaster-file.js';
import { answersOn } from './socket-folder.js';
import { until } from './until.js';

const CLEAN_STOP_MS = 20_000;
/** Without their postmaster the rest have nothing to bring to an end; most notice within milliseconds. */
const ORPHAN_GRACE_MS = 2_000;
const HARD_STOP_MS = 8_000;

/**
 * The kernel's lock is not seen across network namespaces, so a holder there would look like a left-over. It is told
 * by its server: a child of the recorded holder that still lives, or one that answers but runs out of our sight, as in
 * another container on the same folder.
 */
export async function refuseHolderElsewhere(folder: DataFolder): Promise<void> {
  const file = await readPostmasterFile(folder.cluster).catch(() => undefined);
  if (file === undefined) return;
  const holder = await readLivingHolder(folder);
  const pids = await findClusterProcesses(folder.cluster);
  const isChildOfHolder =
    pids.includes(file.pid) && holder !== undefined && (await findParent(file.pid)) === holder.pid;
  // A copy of a folder in use has the file of the original, which must be ignored.
  const isOwnFile = file.cluster === folder.cluster;
  const answersUnseen = isOwnFile && pids.length === 0 && (await answersOn(file.socketDir, file.port));
  if (isChildOfHolder || answersUnseen) throw inUse(folder, holder);
}

/** Ends what a killed process left running on the cluster. Called under the lock: nobody else can need it. */
export async function stopLeftOver(folder: DataFolder): Promise<void> {
  const { cluster } = folder;
  const file = await readPostmasterFile(cluster);
  const pids = await findClusterProcesses(cluster);
  if (pids.length === 0) {
    // PostgreSQL believes this file while any process of its user has that number, which after the restart of a
    // container is likely. None works on the cluster, so the file is stale.
    if (file !== undefined && isAlive(file.pid)) await rm(postmasterFilePath(cluster), { force: true });
    return;
  }
  const postmaster = pids.find((pid) => pid === file?.pid);
  if (postmaster !== undefined) signal(postmaster, 'SIGINT');
  if (await isDeserted(cluster, postmaster === undefined ? ORPHAN_GRACE_MS : CLEAN_STOP_MS)) return;
  for (const pid of await findClusterProcesses(cluster)) signal(pid, 'SIGQUIT');
  if (await isDeserted(cluster, HARD_STOP_MS)) return;
  throw new ExitError(
    EXIT.unavailable,
    `A PostgreSQL server left over from an earlier run (process ${pids.join(', ')}) still works on ${cluster} and ` +
      'does not stop. End it, then start again.',
  );
}

async function isDeserted(cluster: string, limitMs: number): Promise<boolean> {
  const deserted = await until(limitMs, async () => {
    const pids = await findClusterProcesses(cluster);
    return pids.length === 0 ? true : undefined;
  });
  return deserted === true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It went away between being found and being told; whether it did is asked next.
  }
}
