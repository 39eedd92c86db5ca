const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = /content-length: *(\d+)/i;
const LAST = /\nconnection: *close/i;
const STATUS_AT = 9;

/** Reads one answer at a time from the chunks of a connection, with as little work as possible. */
export interface AnswerReader {
  /** The status once the answer is whole, else undefined. */
  push(chunk: Buffer): number | undefined;
  /** Whether the server said that it closes the connection behind the last whole answer. */
  isLast(): boolean;
}

export function createAnswerReader(): AnswerReader {
  let pending: Buffer = Buffer.alloc(0);
  let isLast = false;
  return {
    isLast: () => isLast,
    push(chunk) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const headEnd = pending.indexOf(HEAD_END);
      if (headEnd === -1) return undefined;
      const head = pending.toString('latin1', 0, headEnd);
      const length = Number(LENGTH.exec(head)?.[1] ?? 0);
      if (pending.length < headEnd + HEAD_END.length + length) return undefined;
      pending = Buffer.alloc(0);
      isLast = LAST.test(head);
      return Number(head.slice(STATUS_AT, STATUS_AT + 3));
    },
  };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
