import type { Database } from '../storage/database.js';
import type { PeopleTx, TenantTx } from '../storage/scope.js';

/** A transaction that may put mail into the queue: of what the mail is about. */
export type EnqueueTx = PeopleTx | TenantTx;

/** A transaction that works on the queue. */
export type MailTx = PeopleTx;

/** The one place that says under which role the queue is worked on. */
export function inMailScope<T>(database: Pick<Database, 'people'>, work: (tx: MailTx) => Promise<T>): Promise<T> {
  return database.people(work);
}
