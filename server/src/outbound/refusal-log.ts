import type { Clock } from '../kernel/clock.js';
import type { RefusalReason } from './outbound-error.js';

/** One line of the security log. */
export interface OutboundRefusal {
  readonly tenantId: string;
  readonly reason: RefusalReason;
  readonly host?: string;
  /** Refusals of this tenant in the last minute that have no line of their own. */
  readonly unlogged?: number;
}

export interface RefusalLogOptions {
  readonly clock: Clock;
  readonly write: (refusal: OutboundRefusal) => void;
}

export interface RefusalLog {
  note(refusal: OutboundRefusal): void;
  /** Writes what is not written yet. */
  close(): void;
}

const WINDOW_MS = 60_000;
const LINES_OF_TENANT = 10;

interface Noted {
  lines: number;
  unlogged: number;
  last: OutboundRefusal;
}

/** Ten lines a minute for each tenant, and then one that says how many there were more: a loop in tenant code is no flood. */
export function createRefusalLog({ clock, write }: RefusalLogOptions): RefusalLog {
  const noted = new Map<string, Noted>();
  let sinceMs = clock.monotonicMs();

  function close(): void {
    for (const { last, unlogged } of noted.values()) if (unlogged > 0) write({ ...last, unlogged });
    noted.clear();
  }

  return {
    close,
    note(refusal) {
      const nowMs = clock.monotonicMs();
      if (nowMs - sinceMs >= WINDOW_MS) {
        close();
        sinceMs = nowMs;
      }
      const last = { ...refusal, ...(refusal.host !== undefined && { host: withoutNumbers(refusal.host) }) };
      const found = noted.get(refusal.tenantId) ?? { lines: 0, unlogged: 0, last };
      noted.set(refusal.tenantId, found);
      found.last = last;
      if (found.lines < LINES_OF_TENANT) write(last);
      else found.unlogged += 1;
      found.lines += 1;
    },
  };
}

/**
 * Tenant code can put a card number into a name. Nine digits and more, also with a sign between them, are cut out; only names
 * have a letter, so addresses stay as they are.
 */
function withoutNumbers(host: string): string {
  return /[a-z]/.test(host) && !host.includes(':') ? host.replace(/\d(?:[-_.]?\d){8,}/g, '#') : host;
}
