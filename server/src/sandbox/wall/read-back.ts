import { readFile, readlink } from 'node:fs/promises';
import type { WallAbilities } from './detect.js';
import type { WallLimits } from './wall-steps.js';

const NAMESPACES = ['mnt', 'net', 'pid', 'ipc', 'uts', 'cgroup'] as const;
const FILTERED = '2';
const NO_CAPABILITIES = /^0+$/;
/** A name, what holds now, and what it cannot be raised above. */
const LIMIT_LINE = /^(Max [a-z ]*[a-z]) {2,}\S+ +(\S+)/gm;

/**
 * What is missing of a wall that should stand around a process, in the kernel's own words; undefined where it stands. `pid` is
 * the process we started; with namespaces the engine is its child.
 */
export async function missingOf(
  abilities: WallAbilities,
  limits: WallLimits,
  pid: number,
  enginePid: number,
): Promise<string | undefined> {
  const status = await statusOf(enginePid);
  const line = (name: string): string => status.get(name) ?? '';
  if (line('Seccomp') !== FILTERED) return 'there is no filter of system calls';
  if (line('NoNewPrivs') !== '1') return 'it may gain privileges';
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) {
    if (!NO_CAPABILITIES.test(line(set))) return 'it has capabilities';
  }
  if (line('Uid').split('\t').includes('0') || line('Gid').split('\t').includes('0')) return 'it runs as root';
  const unlimited = await missingLimitOf(abilities, limits, enginePid);
  if (unlimited !== undefined) return `it has no limit: ${unlimited}`;
  if (abilities.mode === 'flat') return undefined;
  if (enginePid === pid) return 'it has no namespaces';
  const shared = await Promise.all(NAMESPACES.map(async (name) => (await isShared(enginePid, name)) && name));
  const found = shared.find((name) => name !== false);
  return found && `it shares the namespace ${found}`;
}

/** The first limit that a process does not have, in the kernel's own words; one that is lower than asked for will do. */
export async function missingLimitOf(
  { mode }: WallAbilities,
  { dataMiB, descriptors, processes }: WallLimits,
  pid: number,
): Promise<string | undefined> {
  const most: readonly (readonly [string, number])[] = [
    ['Max data size', dataMiB * 1024 * 1024],
    ['Max open files', descriptors],
    ['Max file size', 0],
    ['Max core file size', 0],
    ['Max locked memory', 0],
    ['Max msgqueue size', 0],
    ['Max processes', (mode === 'flat' ? undefined : processes) ?? Number.POSITIVE_INFINITY],
  ];
  const text = await readFile(`/proc/${pid}/limits`, 'utf8');
  const found = new Map([...text.matchAll(LIMIT_LINE)].map(([, name = '', hard = '']) => [name, numberOf(hard)]));
  return most.find(([name, value]) => (found.get(name) ?? Number.POSITIVE_INFINITY) > value)?.[0];
}

function numberOf(limit: string): number {
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

/** The private memory that a process can write to, as the limit on it counts. */
export async function dataMiBOf(pid: number): Promise<number> {
  const kib = Number.parseInt((await statusOf(pid)).get('VmData') ?? '', 10);
  if (!Number.isInteger(kib)) throw new Error('the kernel does not tell how much data a process has');
  return kib / 1024;
}

/** The engine itself: the process we started, or its only child. */
export async function enginePidOf({ mode }: WallAbilities, pid: number): Promise<number> {
  if (mode === 'flat') return pid;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
  if (!/^\d+$/.test(children)) throw new Error('the engine has no process');
  return Number(children);
}

async function statusOf(pid: number): Promise<Map<string, string>> {
  const lines = (await readFile(`/proc/${pid}/status`, 'utf8')).split('\n');
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
}

async function isShared(pid: number, name: string): Promise<boolean> {
  const [theirs, own] = await Promise.all([readlink(`/proc/${pid}/ns/${name}`), readlink(`/proc/self/ns/${name}`)]);
  return theirs === own;
}
