import type { JobRecord } from '../jobs/job-record.js';
import { MINUTE_MS } from '../jobs/job-record.js';
import type { Database } from '../storage/database.js';
import { DEVICE_LIFE_MS } from './devices/devices.js';
import { deleteDueDevices } from './devices/queries.js';
import { deleteDueEmailChanges } from './email-change/queries.js';
import { deleteDueLinks } from './links/queries.js';
import { deleteDueChallenges, deleteOldestChallenges } from './passkeys/queries.js';
import { deleteDuePortalSessions } from './sessions/queries.js';
import { FAILURES_FORGOTTEN_MS } from './sign-in/backoff.js';
import { deleteDueFailures, deleteOldestFailures } from './sign-in/queries.js';

const ROWS_MAX = 500;
/**
 * Whoever has many addresses can name many accounts. Past so many rows the oldest go before their time: a wait may then be
 * forgotten early, but the table does not fill the disk.
 */
const FAILURES_MAX = 1_000_000;
/** Nobody has to sign in to be given one. Past so many the oldest go before their five minutes are over. */
const CHALLENGES_MAX = 100_000;
const EXCESS_ROWS_MAX = 10_000;

/**
 * Takes away what is over and what nobody asks for any more: sessions, challenges, links, failures, changes, browsers. Rows that
 * somebody holds are left for the next time: this locks no user first, so it must wait for nobody.
 */
export function peopleJobs(
  database: Database,
  { failuresMax = FAILURES_MAX, challengesMax = CHALLENGES_MAX } = {},
): JobRecord[] {
  return [
    {
      name: 'people',
      restMs: MINUTE_MS,
      step: (nowMs) =>
        database.people(async (tx) => {
          const sessions = await deleteDuePortalSessions(tx, nowMs, ROWS_MAX);
          const challenges =
            (await deleteDueChallenges(tx, nowMs, ROWS_MAX)) +
            (await deleteOldestChallenges(tx, challengesMax, EXCESS_ROWS_MAX));
          const links = await deleteDueLinks(tx, nowMs, ROWS_MAX);
          const changes = await deleteDueEmailChanges(tx, nowMs, ROWS_MAX);
          const devices = await deleteDueDevices(tx, nowMs - DEVICE_LIFE_MS, ROWS_MAX);
          const over = sessions + challenges + links + changes + devices;
          const failures = await deleteDueFailures(tx, nowMs - FAILURES_FORGOTTEN_MS, ROWS_MAX);
          return over + failures + (await deleteOldestFailures(tx, failuresMax, EXCESS_ROWS_MAX));
        }),
    },
  ];
}
