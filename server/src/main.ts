import { runCommandLine } from './commands/command-line.js';

// Whoever read our output may be gone; that is no reason to fail.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** Back to the start of the line, and whatever stood there is gone. */
const CLEAR_LINE = '\r\u001b[K';
const clear = process.stderr.isTTY ? CLEAR_LINE : '';

process.exitCode = await runCommandLine(process.argv.slice(2), {
  print: (text) => process.stdout.write(`${text}\n`),
  say: (text) => process.stderr.write(`${clear}${text}\n`),
  ...(process.stderr.isTTY && { rewrite: (line: string) => process.stderr.write(`${clear}${line}`) }),
});
