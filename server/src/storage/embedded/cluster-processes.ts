import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { ifPresent } from './error-code.js';

/**
 * Processes that are PostgreSQL at work on this very cluster, proven by the kernel: a number in a file may meanwhile
 * belong to a stranger, who must not be signalled. On Linux the server's children are among them, because one that
 * outlives a killed postmaster still writes; elsewhere only the postmaster can be told.
 */
export async function findClusterProcesses(cluster: string): Promise<number[]> {
  return process.platform === 'linux' ? findInProc(cluster) : findByCommand(cluster);
}

/** Every PostgreSQL process works with its cluster as current folder. */
async function findInProc(cluster: string): Promise<number[]> {
  const wanted = await ifPresent(stat(cluster));
  if (wanted === undefined) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const checks = pids.map(async (pid) => {
    try {
      const { dev, ino } = await stat(`/proc/${pid}/cwd`);
      return dev === wanted.dev && ino === wanted.ino && isPostgres(await readlink(`/proc/${pid}/exe`));
    } catch {
      // Gone, a zombie, or another account's and so not ours.
      return false;
    }
  });
  const isOurs = await Promise.all(checks);
  return pids.filter((_, index) => isOurs[index]);
}

/** The kernel marks a program whose file was replaced by an upgrade. */
function isPostgres(executable: string): boolean {
  return basename(executable).replace(/ \(deleted\)$/, '') === 'postgres';
}

async function findByCommand(cluster: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-axww', '-o', 'pid=,command=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return command.includes(`/postgres -D ${cluster} -c `) ? [Number(pid)] : [];
  });
}

/** The process that started this one; undefined where that cannot be told. */
export async function findParent(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const parent = /^PPid:\s*(\d+)$/m.exec(status)?.[1];
  return parent === undefined ? undefined : Number(parent);
}
