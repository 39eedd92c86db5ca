import { connect } from 'node:net';
import type { Answer } from './answer.js';
import { parseAnswer } from './answer.js';
import { HANG_MS } from './connection.js';

export interface RawOptions {
  readonly port: number;
  readonly bytes: Buffer;
  /** `end` half-closes once everything is sent, `wait` leaves it to the product, `abort` hangs up without reading. */
  readonly then: 'end' | 'wait' | 'abort';
  /** Pieces to send it in; one without it. */
  readonly pieces?: number;
  /** Milliseconds between the pieces. */
  readonly pauseMs?: number;
  readonly deadlineMs?: number;
  readonly isHead?: boolean;
}

export interface RawOutcome {
  readonly answers: readonly Answer[];
  /** What came after the last whole answer. */
  readonly rest: Buffer;
  readonly isClosed: boolean;
  readonly ms: number;
}

/** Puts bytes on a connection of their own and gathers what comes back until the product hangs up. */
export function exchangeRaw(options: RawOptions): Promise<RawOutcome> {
  const { port, bytes, then, pieces = 1, pauseMs = 0, deadlineMs = HANG_MS, isHead = false } = options;
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    const size = Math.max(1, Math.ceil(bytes.length / pieces));
    let startedMs = performance.now();
    let sent = 0;
    let timer = setTimeout(() => finish(false), deadlineMs + pieces * pauseMs);

    function finish(isClosed: boolean): void {
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.destroy();
      const answers: Answer[] = [];
      let rest = Buffer.concat(chunks);
      const ms = performance.now() - startedMs;
      for (;;) {
        const parsed = parseAnswer(rest, isHead);
        if (parsed === undefined) break;
        answers.push({ ...parsed.answer, ms });
        rest = rest.subarray(parsed.length);
      }
      resolve({ answers, rest, isClosed, ms });
    }
    function sendNext(): void {
      socket.write(bytes.subarray(sent, sent + size));
      sent += size;
      if (sent < bytes.length) {
        setTimeout(sendNext, pauseMs);
        return;
      }
      startedMs = performance.now();
      clearTimeout(timer);
      timer = setTimeout(() => finish(false), deadlineMs);
      if (then === 'end') socket.end();
      if (then === 'abort') setImmediate(() => finish(true));
    }
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('end', () => finish(true));
    socket.once('error', () => finish(true));
    socket.once('close', () => finish(true));
    socket.once('connect', sendNext);
  });
}
