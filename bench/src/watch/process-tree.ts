import { readdir, readFile } from 'node:fs/promises';

/** One look at /proc: who is whose child, under which name, with how much processor time. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** Own time and that of children that ended, so that a sum over a tree never falls. */
  readonly ticks: number;
  /** Own time alone. */
  readonly ownTicks: number;
}

const STAT = /^(\d+) \((.*)\) \S (\d+) (?:\S+ ){9}(\d+) (\d+) (\d+) (\d+) /s;

export function parseStat(text: string): ProcessRow | undefined {
  const [, pid, name = '', parent, user, system, childUser, childSystem] = STAT.exec(text) ?? [];
  if (pid === undefined) return undefined;
  const ownTicks = Number(user) + Number(system);
  const ticks = ownTicks + Number(childUser) + Number(childSystem);
  return { pid: Number(pid), parent: Number(parent), name, ticks, ownTicks };
}

export async function readProcesses(): Promise<ProcessRow[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  return texts.flatMap((text) => parseStat(text) ?? []);
}

/** The process and everything below it. */
export function treeOf(rows: readonly ProcessRow[], root: number): ProcessRow[] {
  const found = rows.filter(({ pid }) => pid === root);
  for (const row of found) found.push(...rows.filter(({ parent }) => parent === row.pid));
  return found;
}

/** The processes of PostgreSQL itself, not what watches over it. */
export function isPostgres({ name }: ProcessRow): boolean {
  return name === 'postgres' || name === 'postmaster';
}
