import type { KeyObject } from 'node:crypto';
import { macOf } from '../../crypto/keyed-hash.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError } from '../../kernel/errors.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { Backoff } from './backoff.js';
import { ACCOUNT_BACKOFF, ADDRESS_BACKOFF, FAILURES_FORGOTTEN_MS, waitBeforeTry } from './backoff.js';
import type { FailureRow } from './queries.js';
import { addFailure, clearFailures, deleteNoFailures, listFailures, lockFailures, takeBackFailure } from './queries.js';

/** Who tries: an account that may not exist, from an address. */
export interface Tried {
  /** The address of the account as it is compared, or the id of a user who is signed in. */
  readonly account: string;
  /** The client's address as limits count it. */
  readonly limitKey: string;
}

/** Slows down whoever guesses, by account and by address, over all processes. */
export interface SignInFailures {
  /**
   * Throws 429 where the try has to wait. It counts as failed from its begin on, so that tries at the same time do not all pass
   * before the first has failed. `decide` gives what was proven, or undefined. What it throws decides nothing, and the try is
   * taken back; so it is after a success, with every failure of the account. What came from the address still counts: it may
   * have tried other accounts.
   */
  attempt<T>(tried: Tried, decide: () => Promise<T | undefined>): Promise<T | undefined>;
  /** The failures of an account, for whoever has proven in another way whose it is. */
  forget(tx: PeopleTx, account: string): Promise<void>;
}

export interface SignInFailuresOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly rowMacKey: KeyObject;
}

interface Counted {
  readonly name: Buffer;
  readonly backoff: Backoff;
}

export function createSignInFailures({ database, clock, rowMacKey }: SignInFailuresOptions): SignInFailures {
  // The table tells neither who was tried nor from where.
  const nameOf = (kind: string, text: string): Buffer => macOf(rowMacKey, ['sign-in-failures', kind, text]);
  const accountOf = (account: string): Counted => ({ name: nameOf('account', account), backoff: ACCOUNT_BACKOFF });
  const addressOf = (limitKey: string): Counted => ({ name: nameOf('address', limitKey), backoff: ADDRESS_BACKOFF });

  function waitOf({ backoff }: Counted, row: FailureRow | undefined): number {
    return waitBeforeTry(backoff, row && { count: row.count, lastMs: row.last_at.getTime() }, clock.nowMs());
  }

  /** Looks without a lock: whoever has to wait anyway costs no write, and makes no row of what it names. */
  async function look(counted: readonly Counted[]): Promise<void> {
    const names = counted.map(({ name }) => name);
    const rows = await database.readPeople((tx) => listFailures(tx, names));
    const rowOf = (name: Buffer) => rows.find((each) => each.name.equals(name));
    refuseEarly(Math.max(...counted.map((each) => waitOf(each, rowOf(each.name)))));
  }

  /** Rows are locked in one order everywhere, the address first. */
  async function begin(counted: readonly Counted[]): Promise<void> {
    const waitMs = await database.people(async (tx) => {
      const nowMs = clock.nowMs();
      for (const each of counted) {
        const wait = waitOf(each, await lockFailures(tx, each.name, nowMs));
        if (wait > 0) return wait;
      }
      for (const { name } of counted) await addFailure(tx, name, nowMs, nowMs - FAILURES_FORGOTTEN_MS);
      return 0;
    });
    refuseEarly(waitMs);
  }

  async function takeBack(tx: PeopleTx, { name }: Counted): Promise<void> {
    await takeBackFailure(tx, name);
    await deleteNoFailures(tx, name);
  }

  return {
    async attempt({ account, limitKey }, decide) {
      const [ofAddress, ofAccount] = [addressOf(limitKey), accountOf(account)];
      await look([ofAddress, ofAccount]);
      await begin([ofAddress, ofAccount]);
      const proven = await decide().catch(async (error: unknown) => {
        await database.people(async (tx) => {
          await takeBack(tx, ofAddress);
          await takeBack(tx, ofAccount);
        });
        throw error;
      });
      if (proven === undefined) return undefined;
      await database.people(async (tx) => {
        await takeBack(tx, ofAddress);
        await clearFailures(tx, ofAccount.name);
      });
      return proven;
    },
    forget: (tx, account) => clearFailures(tx, accountOf(account).name),
  };
}

function refuseEarly(waitMs: number): void {
  if (waitMs > 0) throw delayed(waitMs);
}

function delayed(waitMs: number): AppError {
  const seconds = Math.ceil(waitMs / 1_000);
  return new AppError('sign_in_delayed', `Too many failed sign-ins. Wait ${seconds} second(s), then try again.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
