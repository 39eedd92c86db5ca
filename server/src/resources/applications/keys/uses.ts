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
  const { clock, roundMs = ROUND_MS, retryMs = RETRY_MS } = options;
  const pending = new PendingUses(options);
  let round = 1;
  let notBeforeMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  function look(credential: Credential): void {
    credential.usedRound = round;
    beginRound();
    const hour = hourOf(clock.nowMs());
    if (credential.usedHour < hour) pending.keep(credential, hour);
  }

  function beginRound(): void {
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(() => {
      timer = undefined;
      round += 1;
      if (pending.isEmpty()) return;
      if (clock.monotonicMs() >= notBeforeMs) writing = writing.then(writePending);
      else beginRound();
    }, roundMs);
    timer.unref();
  }

  async function writePending(): Promise<void> {
    if (await pending.write()) return;
    notBeforeMs = clock.monotonicMs() + retryMs;
    beginRound();
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

/** Uses that are not written yet, the last of each key. */
class PendingUses {
  readonly #options: Pick<KeyUsesOptions, 'write' | 'onFault'>;
  readonly #uses = new Map<string, KeyUse>();

  constructor(options: Pick<KeyUsesOptions, 'write' | 'onFault'>) {
    this.#options = options;
  }

  isEmpty(): boolean {
    return this.#uses.size === 0;
  }

  keep(credential: Credential, hour: number): void {
    const { principal } = credential;
    if (principal.kind !== 'application') return;
    const { tenantId, applicationId, keyId } = principal;
    // What finds no place is left unmarked, so that a later use of the key tries again.
    if (keyId === undefined || (this.#uses.size >= USES_PENDING_MAX && !this.#uses.has(keyId))) return;
    credential.usedHour = hour;
    this.#uses.set(keyId, { tenantId, applicationId, keyId, usedAtMs: hour * HOUR_MS });
  }

  /** Says whether all of them are written. */
  async write(): Promise<boolean> {
    const uses = [...this.#uses.values()];
    this.#uses.clear();
    for (let at = 0; at < uses.length; at += BATCH_MAX) {
      try {
        await this.#options.write(uses.slice(at, at + BATCH_MAX));
      } catch (error) {
        this.#options.onFault(error);
        // What came meanwhile is newer. What was written after all changes nothing the second time.
        for (const use of uses.slice(at)) if (!this.#uses.has(use.keyId)) this.#uses.set(use.keyId, use);
        return false;
      }
    }
    return true;
  }
}

/** Each in the scope of its tenant; those that are asked for together share a statement and a transaction. */
export async function writeKeyUses(database: Pick<Database, 'write'>, uses: readonly KeyUse[]): Promise<void> {
  await Promise.all(uses.map((use) => database.write(use.tenantId, (tx) => touchApiKeys(tx, [use]))));
}
