/** Back to the start of the line, and whatever stood there is gone. */
const CLEAR_LINE = '\r\u001b[K';

/** One process of the product: its streams, its debugger, its exit code. */
export async function run(words: readonly string[]): Promise<void> {
  // The reader of our output may be gone; that is not a failure.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const clear = process.stderr.isTTY ? CLEAR_LINE : '';
  const say = (text: string): void => void process.stderr.write(`${clear}${text}\n`);
  await closeDebugger(say);
  const { runCommandLine } = await import('./command-line.js');
  process.exitCode = await runCommandLine(words, {
    print: (text) => process.stdout.write(`${text}\n`),
    say,
    ...(process.stderr.isTTY && { rewrite: (line: string) => process.stderr.write(`${clear}${line}`) }),
  });
}

/** The one that SIGUSR1 opens, opened by --inspect on the command line or in NODE_OPTIONS. */
async function closeDebugger(say: (text: string) => void): Promise<void> {
  if (!process.features.inspector) return;
  const inspector = await import('node:inspector');
  if (inspector.url() === undefined) return;
  inspector.close();
  say('The debugger was open and is closed: it would show keys and data in memory. Start without --inspect.');
}
