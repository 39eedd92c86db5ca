import type { EnqueueTx } from '../../mail/mail-scope.js';
import type { Database } from '../../storage/database.js';
import type { PeopleMail } from './notices.js';

export interface WokenMail {
  readonly database: Database;
  readonly mail: PeopleMail | undefined;
}

/** Mail that a transaction of people queued leaves once it is committed; no caller has to think of it. */
export function wakeAfterCommit(database: Database, mail: PeopleMail | undefined): WokenMail {
  if (!mail) return { database, mail };
  const queuing = new WeakSet<EnqueueTx>();
  return {
    database: {
      ...database,
      async people(work) {
        let hasQueued = false;
        const result = await database.people(async (tx) => {
          const done = await work(tx);
          hasQueued = queuing.has(tx);
          return done;
        });
        if (hasQueued) mail.wake();
        return result;
      },
    },
    mail: {
      ...mail,
      offer(tx, given) {
        queuing.add(tx);
        return mail.offer(tx, given);
      },
      // Woken alike: what follows a mail must not tell that there was none.
      pretend(tx, given) {
        queuing.add(tx);
        return mail.pretend(tx, given);
      },
    },
  };
}
