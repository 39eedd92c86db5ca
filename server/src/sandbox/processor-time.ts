import { readFile } from 'node:fs/promises';

/** The unit of the kernel's figures, the same on every machine. */
const TICK_MS = 10;
/** Time in user and in kernel mode, counted behind the name of the program, which may contain anything. */
const TIMES = /^.*\)(?: \S+){11} (\d+) (\d+) /s;

/** What a process has used so far; undefined for one that is gone. */
export async function processorMs(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, user, kernel] = TIMES.exec(text) ?? [];
  return user === undefined ? undefined : (Number(user) + Number(kernel)) * TICK_MS;
}
