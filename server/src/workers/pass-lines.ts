import type { Readable } from 'node:stream';

/** Passes whole lines on. What a process leaves unfinished when it dies is no line. */
export function passLines(from: Readable | null, pass: (lines: string) => void): void {
  let rest = '';
  from?.setEncoding('utf8');
  from?.on('error', () => {});
  from?.on('data', (chunk: string) => {
    const text = rest + chunk;
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) pass(text.slice(0, end));
  });
}
