import { connect } from 'node:net';
import type { Answer } from './answer.js';
import { parseAnswer } from './answer.js';
import { HANG_MS } from './connection.js';

export interface RawOptions {
  readonly port: number;
  readonly bytes: Buffer;
  /**
   * What happens once everything is sent. `wait` leaves it to the product to hang up; `settle` half-closes when the wanted
   * answers are there, or soon, for a request that is not whole has none; `end` half-closes, `abort` hangs up at once and
   * `reset` sends a TCP reset at once.
   */
  readonly after: 'wait' | 'settle' | 'end' | 'abort' | 'reset';
  /** How soon `settle` gives up on an answer. */
  readonly settleMs?: number;
  /** Answers to wait for before half-closing; one without it. */
  readonly wanted?: number;
  /** Pieces to send it in; one without it. */
  readonly pieces?: number;
  /** Milliseconds between the pieces. */
  readonly pauseMs?: number;
  readonly deadlineMs?: number;
  /** The client takes its time on purpose, so the answer is not late. */
  readonly isSlow?: boolean;
  readonly isHead?: boolean;
}

export interface RawOutcome {
  readonly answers: readonly Answer[];
  /** What came after the last whole answer. */
  readonly rest: Buffer;
  readonly isClosed: boolean;
  readonly ms: number;
}

const SETTLE_MS = 200;

/** Puts bytes on a connection of their own and gathers what comes back until the product hangs up. */
export function exchangeRaw(options: RawOptions): Promise<RawOutcome> {
  const { port, bytes, after, isSlow = false, isHead = false } = options;
  const { pieces = 1, pauseMs = 0, deadlineMs = HANG_MS, wanted = 1, settleMs = SETTLE_MS } = options;
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    const size = Math.max(1, Math.ceil(bytes.length / pieces));
    let startedMs = performance.now();
    let sent = 0;
    let seen = 0;
    let isOver = false;
    let settling: NodeJS.Timeout | undefined;
    let timer = setTimeout(() => finish(false), deadlineMs + pieces * pauseMs);

    function finish(isClosed: boolean): void {
      isOver = true;
      clearTimeout(timer);
      clearTimeout(settling);
      socket.removeAllListeners();
      socket.on('error', () => {});
      if (after === 'reset') socket.resetAndDestroy();
      else socket.destroy();
      const ms = performance.now() - startedMs;
      try {
        resolve({ ...answersIn(Buffer.concat(chunks), isHead, isSlow ? 0 : ms), isClosed, ms });
      } catch (error) {
        reject(error);
      }
    }
    function sendNext(): void {
      // The product may hang up between two pieces; then nothing is sent and no timer is started any more.
      if (isOver) return;
      socket.write(bytes.subarray(sent, sent + size));
      sent += size;
      if (sent < bytes.length) {
        setTimeout(sendNext, pauseMs);
        return;
      }
      startedMs = performance.now();
      clearTimeout(timer);
      timer = setTimeout(() => finish(false), deadlineMs);
      if (after === 'end') socket.end();
      if (after === 'settle') settling = setTimeout(() => socket.end(), settleMs);
      if (after === 'abort' || after === 'reset') setImmediate(() => finish(true));
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      seen += chunk.toString('latin1').split('HTTP/1.1 ').length - 1;
      // A tail that is still on its way comes before the product's own end, so the count of heads is enough.
      if (after !== 'settle' || seen < wanted || sent < bytes.length) return;
      clearTimeout(settling);
      if (wanted === 1) socket.end();
      else settling = setTimeout(() => socket.end(), SETTLE_MS);
    });
    socket.once('end', () => finish(true));
    socket.once('error', () => finish(true));
    socket.once('close', () => finish(true));
    socket.once('connect', sendNext);
  });
}

/** The whole answers at the beginning of some bytes, and what is left behind them. */
function answersIn(bytes: Buffer, isHead: boolean, ms: number): Pick<RawOutcome, 'answers' | 'rest'> {
  const answers: Answer[] = [];
  let rest = bytes;
  for (;;) {
    const parsed = parseAnswer(rest, isHead);
    if (parsed === undefined) return { answers, rest };
    answers.push({ ...parsed.answer, ms });
    rest = rest.subarray(parsed.length);
  }
}
