import type { KeyObject } from 'node:crypto';
import { macOf } from '../../crypto/keyed-hash.js';
import type { Clock } from '../../kernel/clock.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { Backoff } from '../sign-in/backoff.js';
import { FAILURES_FORGOTTEN_MS, waitBeforeTry } from '../sign-in/backoff.js';
import { addFailure, clearFailures, deleteNoFailures, lockFailures, takeBackFailure } from '../sign-in/queries.js';

/** What is counted: mails of one kind, to or by somebody. */
export interface MailCount {
  readonly kind:
    | 'forgotten by account'
    | 'forgotten by address'
    | 'email change by user'
    | 'email change by address'
    | 'invitation by tenant'
    | 'invitation of tenant to address'
    | 'invitation of owner to address'
    | 'set-up by link'
    | 'registration by client'
    | 'registration by owner'
    | 'registration of address'
    | 'return from issuer';
  readonly text: string;
  readonly backoff: Backoff;
}

/**
 * Bounds how often mail can be asked for. It counts apart from failed sign-ins, so that whoever asks for mail delays nobody's
 * sign-in.
 */
export interface MailBounds {
  /**
   * Counts this mail under each name, or says how many milliseconds it has to wait and counts nothing. The client's address
   * stands first: a client that has to wait makes no row of whatever it names, and rows are locked in one order.
   */
  pass(tx: PeopleTx, counts: readonly MailCount[]): Promise<number>;
  /** One less under each name, for what turned out to be harmless. In the same order. */
  takeBack(tx: PeopleTx, counts: readonly Omit<MailCount, 'backoff'>[]): Promise<void>;
  clear(tx: PeopleTx, count: Omit<MailCount, 'backoff'>): Promise<void>;
}

export function createMailBounds({ clock, rowMacKey }: { clock: Clock; rowMacKey: KeyObject }): MailBounds {
  const nameOf = ({ kind, text }: Omit<MailCount, 'backoff'>): Buffer => macOf(rowMacKey, ['mail-bounds', kind, text]);
  return {
    async pass(tx, counts) {
      const nowMs = clock.nowMs();
      const named = counts.map((count) => ({ name: nameOf(count), backoff: count.backoff }));
      for (const { name, backoff } of named) {
        const row = await lockFailures(tx, name, nowMs);
        const tries = row && { count: row.count, lastMs: row.last_at.getTime() };
        const waitMs = waitBeforeTry(backoff, tries, nowMs);
        // It is not counted: whoever keeps asking must not make the wait endless.
        if (waitMs > 0) return waitMs;
      }
      for (const { name } of named) await addFailure(tx, name, nowMs, nowMs - FAILURES_FORGOTTEN_MS);
      return 0;
    },
    async takeBack(tx, counts) {
      for (const name of counts.map(nameOf)) {
        await takeBackFailure(tx, name);
        await deleteNoFailures(tx, name);
      }
    },
    clear: (tx, count) => clearFailures(tx, nameOf(count)),
  };
}
