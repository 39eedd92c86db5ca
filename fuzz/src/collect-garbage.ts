const TRIES = 200;
const TRY_MS = 50;
const COLLECTED = /^garbage collected$/gm;

/** What a Node process is started with so that it can be asked to collect its garbage. */
export const COLLECTABLE = ['--expose-gc', '--import', new URL('./collect-on-signal.js', import.meta.url).href];

/** Lets such a process collect its garbage, so that what it holds afterwards is what it needs. */
export async function collectGarbage(pid: number, readOutput: () => Promise<string>): Promise<void> {
  const timesSaid = async (): Promise<number> => (await readOutput()).match(COLLECTED)?.length ?? 0;
  const before = await timesSaid();
  process.kill(pid, 'SIGUSR2');
  for (let left = TRIES; left > 0; left -= 1) {
    if ((await timesSaid()) > before) return;
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
  throw new Error('the product did not collect its garbage');
}
