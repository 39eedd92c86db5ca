import { readdir, readFile } from 'node:fs/promises';

/** Kills a process and its children with SIGKILL. Stopped first, so that none of them sees another one die. */
export async function killTree(pid: number): Promise<void> {
  signal(pid, 'SIGSTOP');
  const children = await childrenOf(pid);
  for (const child of children) signal(child, 'SIGKILL');
  signal(pid, 'SIGKILL');
}

export async function childrenOf(pid: number): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // The name of the program stands in parentheses and may hold anything; the parent is the second word after it.
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(parent) === pid) found.push(Number(name));
  }
  return found;
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}
