import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Answer } from './answer.js';
import { parseAnswer } from './answer.js';

/** How long the product may take for an answer, from the last byte sent. */
export const LATE_MS = 5_000;
/** When waiting is given up. Later than late, to tell a machine that is busy with something else from a real hang. */
export const HANG_MS = 60_000;

/** Nobody answered: the product hung, or ended the connection without a word. */
export class NoAnswer extends Error {
  readonly isHang: boolean;

  constructor(reason: string, isHang: boolean) {
    super(reason);
    this.isHang = isHang;
  }
}

/** What is put on a connection. */
export interface Message {
  readonly bytes: Buffer;
  readonly isHead: boolean;
}

/** A connection that is kept and opened anew whenever the product has closed it. */
export interface Connection {
  exchange(bytes: Buffer, isHead: boolean): Promise<Answer>;
  /** Sends all at once, without waiting for answers in between. Behind an answer that ends the connection the rest goes again. */
  exchangeAll(messages: readonly Message[]): Promise<Answer[]>;
  close(): void;
}

export function openConnection(port: number): Connection {
  let socket: Socket | undefined;

  function usable(): Socket {
    if (socket !== undefined && !socket.destroyed && socket.writable) return socket;
    const made = connect({ port, host: '127.0.0.1', noDelay: true });
    // Whoever waits has handlers of its own; between requests a lost connection is opened anew.
    made.on('error', () => {});
    made.once('close', () => {
      if (socket === made) socket = undefined;
    });
    socket = made;
    return made;
  }

  async function exchangeAll(messages: readonly Message[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    while (answers.length < messages.length) {
      answers.push(...(await exchangeOn(usable(), messages.slice(answers.length))));
    }
    return answers;
  }

  return {
    exchangeAll,
    async exchange(bytes, isHead) {
      const [answer] = await exchangeAll([{ bytes, isHead }]);
      if (answer === undefined) throw new Error('assertion failed: there is an answer');
      return answer;
    },
    close() {
      socket?.destroy();
    },
  };
}

/** Answers in order; fewer than asked for if one of them ended the connection. */
function exchangeOn(socket: Socket, messages: readonly Message[]): Promise<Answer[]> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const answers: Answer[] = [];
    let pending: Buffer = Buffer.alloc(0);
    const timer = setTimeout(() => fail(`no answer within ${HANG_MS} ms`, true), HANG_MS);
    function leave(): void {
      clearTimeout(timer);
      socket.off('data', onData);
      socket.off('close', onClose);
    }
    function fail(reason: string, isHang = false): void {
      leave();
      socket.destroy();
      reject(new NoAnswer(reason, isHang));
    }
    function take(): boolean {
      const message = messages[answers.length];
      if (message === undefined) throw new Error(`${pending.length} bytes too many`);
      const parsed = parseAnswer(pending, message.isHead);
      if (parsed === undefined) return false;
      pending = pending.subarray(parsed.length);
      answers.push({ ...parsed.answer, ms: performance.now() - startedMs });
      const isLast = parsed.answer.headers.get('connection') === 'close';
      if (!isLast && answers.length < messages.length) return pending.length > 0;
      if (pending.length > 0) throw new Error(`${pending.length} bytes too many`);
      leave();
      if (isLast) socket.destroy();
      resolve(answers);
      return false;
    }
    const onClose = (): void => fail(`the connection was closed after ${pending.length} bytes of an answer`);
    const onData = (chunk: Buffer): void => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      try {
        while (take());
      } catch (error) {
        fail(error instanceof Error ? error.message : String(error));
      }
    };
    socket.on('data', onData);
    socket.once('close', onClose);
    socket.write(
      messages.length === 1 ? (messages[0]?.bytes ?? pending) : Buffer.concat(messages.map(({ bytes }) => bytes)),
    );
  });
}
