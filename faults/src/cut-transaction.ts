import type { Direction, Hook, TcpProxy } from '@strongroom/test-servers/tcp-proxy.js';

/** Where one exchange is broken: after so many bytes of one direction, counted from the first byte of a message. */
export interface Cut {
  readonly direction: Direction;
  readonly from: 'BEGIN' | 'COMMIT';
  readonly after: number;
}

/** The exchange of one change, from its BEGIN on. */
export interface FollowedTransaction {
  /** Bytes seen so far, each way. */
  readonly seen: Record<Direction, number>;
  /** How much there was before its COMMIT, each way; undefined before it was sent. */
  beforeCommit: Record<Direction, number> | undefined;
  /** Transactions that began until this one did, itself included. */
  begun: number;
  isCut: boolean;
}

const BEGIN = message('BEGIN');
const COMMIT = message('COMMIT');

/** Follows a transaction after letting so many others pass, and cuts it if told to. Only one may be on its way. */
export function followTransaction(proxy: TcpProxy, passing: number, cut?: Cut): FollowedTransaction {
  const transaction: FollowedTransaction = {
    seen: { up: 0, down: 0 },
    beforeCommit: undefined,
    begun: 0,
    isCut: false,
  };
  let followed: number | undefined;
  const hook: Hook = (link, direction, chunk) => {
    let skipped = 0;
    if (followed === undefined && direction === 'up') {
      skipped = chunk.indexOf(BEGIN);
      if (skipped === -1) return 'pass';
      transaction.begun += 1;
      if (transaction.begun <= passing) return 'pass';
      followed = link.id;
    }
    if (link.id !== followed || transaction.isCut) return 'pass';
    const from = transaction.seen[direction];
    transaction.seen[direction] += chunk.length - skipped;
    const place = direction === 'up' ? chunk.indexOf(COMMIT) : -1;
    if (place !== -1) transaction.beforeCommit ??= { up: from + place - skipped, down: transaction.seen.down };
    const base = cut?.from === 'BEGIN' ? 0 : transaction.beforeCommit?.[direction];
    if (cut?.direction !== direction || base === undefined) return 'pass';
    if (transaction.seen[direction] < base + cut.after) return 'pass';
    transaction.isCut = true;
    return { deliver: skipped + base + cut.after - from, after: 'reset' };
  };
  proxy.setHook(hook);
  return transaction;
}

/** A simple query of the protocol: its letter, its length, its text, a zero. */
function message(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length + 5);
  return Buffer.concat([Buffer.from('Q'), length, Buffer.from(text), Buffer.from([0])]);
}
