import type { Database } from '../../../storage/database.js';
import { renewLease } from './claim-queries.js';
import type { RequestRow } from './queries.js';
import type { QueueTime } from './queue-time.js';

/** How long a request belongs to whoever took it, and how often that is prolonged: three of these may fail. */
export const LEASE_MS = 20_000;
const HEARTBEAT_MS = 5_000;

/** `closing`: this process ends, and another one shall have it. `lost`: it is cancelled, or another one has it already. */
export type EndOfHold = 'closing' | 'lost';

/** A request this process has taken. */
export interface HeldRequest {
  readonly row: RequestRow;
  readonly lease: string;
  /** Aborted when it is over before its time. */
  readonly signal: AbortSignal;
  /** It is given up, so that others have it again: what it comes to now is not its result. */
  isGivenUp(): boolean;
}

export interface Hold {
  readonly held: HeldRequest;
  end(why: EndOfHold): void;
  /** Prolongs it no more. */
  release(): void;
}

export function holdRequest(database: Database, time: QueueTime, row: RequestRow, lease: string): Hold {
  const controller = new AbortController();
  const beat = async (): Promise<void> => {
    const untilMs = time.nowMs() + LEASE_MS;
    const isHeld = await database.write(row.tenant_id, (tx) => renewLease(tx, { id: row.id, lease }, untilMs));
    if (!isHeld) end('lost');
  };
  // One that fails is made up for by the next; if none succeeds the lease runs out, and nothing is written under it.
  const timer = setInterval(() => void beat().catch(() => {}), HEARTBEAT_MS);
  timer.unref();

  function end(why: EndOfHold): void {
    controller.abort(why);
  }

  return {
    held: { row, lease, signal: controller.signal, isGivenUp: () => controller.signal.reason === 'closing' },
    end,
    release: () => clearInterval(timer),
  };
}
