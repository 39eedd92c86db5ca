import type { Readable } from 'node:stream';

/**
 * Passes whole lines on; what a process leaves unfinished when it dies is no line. Resolves when everything was passed,
 * which may be after the process has ended.
 */
export function passLines(from: Readable | null, pass: (lines: string) => void): Promise<void> {
  let rest = '';
  from?.setEncoding('utf8');
  from?.on('error', () => {});
  from?.on('data', (chunk: string) => {
    const text = rest + chunk;
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) pass(text.slice(0, end));
  });
  return new Promise((resolve) => {
    if (from) from.once('close', () => resolve());
    else resolve();
  });
}
