import { readFile } from 'node:fs/promises';

const KIB = 1_024;

/** Looks at the memory of a process now and then and keeps the most it saw. */
export interface Sample {
  take(): Promise<void>;
  /** Resident memory in MB: the most that was seen, and the most the kernel saw. */
  readonly most: () => { readonly seen: number; readonly peak: number };
}

export function sampleMemory(pid: number): Sample {
  let seen = 0;
  let peak = 0;
  return {
    async take() {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
      seen = Math.max(seen, kib('VmRSS') / KIB);
      peak = Math.max(peak, kib('VmHWM') / KIB);
    },
    most: () => ({ seen: Math.round(seen), peak: Math.round(peak) }),
  };
}
