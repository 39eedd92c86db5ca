// Node opens its debugger on SIGUSR1, and whoever on this host reaches its port then reads every key in memory. The signal
// means nothing here, and is taken before the rest of the program is even loaded.
process.on('SIGUSR1', () => {});

// Whoever read our output may be gone; that is no reason to fail.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** Back to the start of the line, and whatever stood there is gone. */
const CLEAR_LINE = '\r\u001b[K';
const clear = process.stderr.isTTY ? CLEAR_LINE : '';
const say = (text: string) => process.stderr.write(`${clear}${text}\n`);

// The same debugger, opened by --inspect on the command line or in NODE_OPTIONS.
if (process.features.inspector) {
  const inspector = await import('node:inspector');
  if (inspector.url() !== undefined) {
    inspector.close();
    say('The debugger was open and is closed: it would show keys and data in memory. Start without --inspect.');
  }
}

const { runCommandLine } = await import('./commands/command-line.js');
process.exitCode = await runCommandLine(process.argv.slice(2), {
  print: (text) => process.stdout.write(`${text}\n`),
  say,
  ...(process.stderr.isTTY && { rewrite: (line: string) => process.stderr.write(`${clear}${line}`) }),
});
