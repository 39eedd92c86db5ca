import { AppError } from '../../kernel/errors.js';
import type { Database } from '../../storage/database.js';
import { emailKeyOf } from '../email.js';
import type { MailBounds, MailCount } from '../way-back/mail-bounds.js';
import type { Backoff } from './backoff.js';

/** Whoever sets up an account is told that an address is taken. Five times, then after 1, 2, 4 … minutes up to an hour. */
const GUESS_BACKOFF: Backoff = { freeFailures: 4, firstDelayMs: 60_000, delayMaxMs: 3_600_000 };

/** Many people register behind one address, and by invitations of one owner; most of them have no account. */
const SHARED_BACKOFF: Backoff = { freeFailures: 20, firstDelayMs: 60_000, delayMaxMs: 3_600_000 };

export interface AddressGuessesOptions {
  readonly database: Database;
  readonly bounds: Pick<MailBounds, 'pass' | 'takeBack'>;
}

/** Counts a try before it is known what comes of it: whoever tries many at once, or gets no answer, learns nothing more. */
async function count({ database, bounds }: AddressGuessesOptions, counts: readonly MailCount[]): Promise<void> {
  const waitMs = await database.people((tx) => bounds.pass(tx, counts));
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  throw new AppError('sign_in_delayed', `This was tried too often. Wait ${seconds} second(s), then try again.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

export function countSetUp(options: AddressGuessesOptions, userId: string): Promise<void> {
  return count(options, [{ kind: 'set-up by link', text: userId, backoff: GUESS_BACKOFF }]);
}

/** Who registers, by whose invitation and from where. */
export interface CountedRegistration {
  readonly email: string;
  /** The owner of the tenant: links that are shown let it ask about any address, from all of its tenants. */
  readonly invitedBy: string;
  readonly limitKey: string;
}

/** Hands back how to take it back, once it turned out that nobody was told anything. */
export async function countRegistration(
  options: AddressGuessesOptions,
  { email, invitedBy, limitKey }: CountedRegistration,
): Promise<() => Promise<void>> {
  const shared: readonly MailCount[] = [
    { kind: 'registration by client', text: limitKey, backoff: SHARED_BACKOFF },
    { kind: 'registration by owner', text: invitedBy, backoff: SHARED_BACKOFF },
  ];
  await count(options, [
    ...shared,
    { kind: 'registration of address', text: emailKeyOf(email), backoff: GUESS_BACKOFF },
  ]);
  return () => options.database.people((tx) => options.bounds.takeBack(tx, shared));
}
