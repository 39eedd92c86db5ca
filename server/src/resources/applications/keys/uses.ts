import type { Credential } from '../../../access/credential.js';
import { hourOf } from '../../../access/credential.js';
import type { Clock } from '../../../kernel/clock.js';
import type { Database } from '../../../storage/database.js';
import type { KeyUse } from './queries.js';
import { touchApiKeys } from './queries.js';

/**
 * Remembers when keys were used and writes it behind the requests: at most once for each key and hour.
 *
 * Time goes by in rounds of a second, and a round begins with a use. The first use of a key in a round reads the clock; what
 * every further one costs is a comparison, for a key may be used thousands of times a second. So a use within a second after
 * the full hour may count for the hour before.
 */
export interface KeyUses {
  /** Of every request that is let in. */
  readonly note: (credential: Credential) => void;
  /** Writes what is left, where it can. */
  close(): Promise<void>;
}

export interface KeyUsesOptions {
  readonly clock: Clock;
  /** A batch at a time, none before the one before has ended. */
  readonly write: (uses: readonly KeyUse[]) => Promise<void>;
  readonly onFault: (error: unknown) => void;
  readonly roundMs?: number;
  readonly retryMs?: number;
}

/** As many keys as are remembered. */
export const USES_PENDING_MAX = 10_000;
const HOUR_MS = 3_600_000;
const ROUND_MS = 1_000;
const RETRY_MS = 10_000;
/** As many as one transaction of changes takes, so that they never fill the queue that requests wait in. */
const BATCH_MAX = 64;

export function createKeyUses(options: KeyUsesOptions): KeyUses {
  const { clock, write, onFault, roundMs = ROUND_MS, retryMs = RETRY_MS } = options;
  const pending = new Map<string, KeyUse>();
  let round = 1;
  let notBeforeMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  function look(credential: Credential): void {
    credential.usedRound = round;
    beginRound();
    const hour = hourOf(clock.nowMs());
    if (credential.usedHour < hour) keep(credential, hour);
  }

  function keep(credential: Credential, hour: number): void {
    const { principal } = credential;
    if (principal.kind !== 'application') return;
    const { tenantId, applicationId, keyId } = principal;
    // What finds no place is left unmarked, so that a later use of the key tries again.
    if (pending.size >= USES_PENDING_MAX && !pending.has(keyId)) return;
    credential.usedHour = hour;
    pending.set(keyId, { tenantId, applicationId, keyId, usedAtMs: hour * HOUR_MS });
  }

  function beginRound(): void {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => {
      timer = undefined;
      round += 1;
      if (pending.size === 0) return;
      if (clock.monotonicMs() >= notBeforeMs) writing = writing.then(writePending);
      else beginRound();
    }, roundMs);
    timer.unref();
  }

  async function writePending(): Promise<void> {
    const uses = [...pending.values()];
    pending.clear();
    for (let at = 0; at < uses.length; at += BATCH_MAX) {
      try {
        await write(uses.slice(at, at + BATCH_MAX));
      } catch (error) {
        onFault(error);
        // What came meanwhile is newer. What was written after all changes nothing the second time.
        for (const use of uses.slice(at)) if (!pending.has(use.keyId)) pending.set(use.keyId, use);
        notBeforeMs = clock.monotonicMs() + retryMs;
        beginRound();
        return;
      }
    }
  }

  return {
    note(credential) {
      if (credential.usedRound !== round) look(credential);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await writing;
      await writePending();
    },
  };
}

/** Each in the scope of its tenant; those that are asked for together share a statement and a transaction. */
export async function writeKeyUses(database: Pick<Database, 'write'>, uses: readonly KeyUse[]): Promise<void> {
  await Promise.all(uses.map((use) => database.write(use.tenantId, (tx) => touchApiKeys(tx, [use]))));
}
