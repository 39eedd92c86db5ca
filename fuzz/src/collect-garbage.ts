const TRIES = 200;
const TRY_MS = 50;
const COLLECTED = /^garbage collected, (\d+) bytes in use$/m;

/** What a Node process is started with so that it can be asked to collect its garbage. */
export const COLLECTABLE = ['--expose-gc', '--import', new URL('./collect-on-signal.js', import.meta.url).href];

/**
 * Lets such a process collect its garbage, and gives the bytes it has in use afterwards: what is resident without what V8
 * keeps empty. Reads what the process has said since it was asked.
 */
export async function collectGarbage(pid: number, readOutput: () => Promise<string>): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  for (let left = TRIES; left > 0; left -= 1) {
    const [, bytes] = COLLECTED.exec(await readOutput()) ?? [];
    if (bytes !== undefined) return Number(bytes);
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
  throw new Error('the product did not collect its garbage');
}
