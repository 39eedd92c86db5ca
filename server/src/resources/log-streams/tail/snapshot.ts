/** What a moment of the database sees of its transactions: all that ended before it. */
export interface Snapshot {
  /** As the database writes it. */
  readonly text: string;
  /** Everything below has ended. */
  readonly xmin: bigint;
  /** Nothing from here on has. */
  readonly xmax: bigint;
  /** Of those between, what had not ended. */
  readonly running: ReadonlySet<bigint>;
  /** By the clock of the process that took it. */
  readonly takenAtMs: number;
}

const PATTERN = /^(\d{1,19}):(\d{1,19}):((?:\d{1,19}(?:,\d{1,19})*)?)$/;
/** The widest number that a statement takes. */
const XID_MAX = 2n ** 63n - 1n;

/** Undefined for a text that is none. */
export function readSnapshot(text: string, takenAtMs: number): Snapshot | undefined {
  const [, low, high, list = ''] = PATTERN.exec(text) ?? [];
  if (low === undefined || high === undefined) return undefined;
  const [xmin, xmax] = [BigInt(low), BigInt(high)];
  const running = list === '' ? [] : list.split(',').map(BigInt);
  const isInOrder = running.every((xid, at) => xid >= xmin && xid < xmax && xid > (running[at - 1] ?? 0n));
  if (xmin < 1n || xmin > xmax || xmax > XID_MAX || !isInOrder) return undefined;
  return { text, xmin, xmax, running: new Set(running), takenAtMs };
}

export function sees({ xmin, xmax, running }: Snapshot, xid: bigint): boolean {
  return xid < xmin || (xid < xmax && !running.has(xid));
}

/** Of two snapshots of one database the later one: the end only grows, and below it transactions only end. */
export function laterOf(one: Snapshot, other: Snapshot): Snapshot {
  if (one.xmax !== other.xmax) return one.xmax > other.xmax ? one : other;
  return one.running.size <= other.running.size ? one : other;
}
