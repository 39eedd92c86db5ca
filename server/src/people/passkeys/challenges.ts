import type { KeyObject } from 'node:crypto';
import { macEquals, macOf } from '../../crypto/keyed-hash.js';
import type { Clock } from '../../kernel/clock.js';
import type { Database } from '../../storage/database.js';
import type { PeopleSecurity } from '../security.js';
import { challengeIn } from './browser-answer.js';
import type { ChallengeRow } from './queries.js';
import { insertChallenge, takeChallenge } from './queries.js';

/** What the signature is for. One for another purpose is none. */
export type ChallengePurpose = 'sign-in' | 'new passkey' | 'set-up' | 'registration';

/** A challenge that was made here, and was answered for the first time. */
export interface TakenChallenge {
  readonly challenge: string;
  /** For whom it was made; undefined where that was not known. */
  readonly userId: string | undefined;
}

/** Remembers what passkeys were asked to sign. */
export interface Challenges {
  keep(challenge: string, purpose: ChallengePurpose, userId?: string): Promise<void>;
  /** That of the answer; undefined for one that is unknown, used, over, or for something else. */
  take(answer: unknown, purpose: ChallengePurpose): Promise<TakenChallenge | undefined>;
}

export interface ChallengesOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly rowMacKey: KeyObject;
  readonly security: Pick<PeopleSecurity, 'onPeopleAltered'>;
}

/** As long as browsers are told to wait. */
const LIFE_MS = 300_000;

export function createChallenges({ database, clock, rowMacKey, security }: ChallengesOptions): Challenges {
  // By which the row is found: it says nothing of what the passkey is asked to sign.
  const hashOf = (challenge: string, purpose: ChallengePurpose): Buffer =>
    macOf(rowMacKey, ['passkey-challenge-1', challenge, purpose]);

  return {
    async keep(challenge, purpose, userId) {
      const expiresAt = new Date(clock.nowMs() + LIFE_MS);
      const row = { hash: hashOf(challenge, purpose), purpose, user_id: userId ?? null, expires_at: expiresAt };
      await database.people((tx) => insertChallenge(tx, { ...row, mac: challengeMacOf(rowMacKey, row) }));
    },
    async take(answer, purpose) {
      const challenge = challengeIn(answer);
      if (challenge === undefined) return undefined;
      const row = await database.people((tx) => takeChallenge(tx, hashOf(challenge, purpose)));
      if (!row || row.expires_at.getTime() <= clock.nowMs()) return undefined;
      if (!isChallengeSound(rowMacKey, row)) {
        security.onPeopleAltered({ purpose });
        return undefined;
      }
      return { challenge, userId: row.user_id ?? undefined };
    },
  };
}

/** Whether the product wrote it. One without a MAC was made by the release before, and is over within minutes. */
export function isChallengeSound(rowMacKey: KeyObject, row: Omit<ChallengeRow, 'purpose'>): boolean {
  return row.mac !== null && macEquals(challengeMacOf(rowMacKey, row), row.mac);
}

/** Over all that it says: one that was changed here is refused, whoever it is for then. */
function challengeMacOf(key: KeyObject, row: Pick<ChallengeRow, 'hash' | 'user_id' | 'expires_at'>): Buffer {
  return macOf(key, ['passkey-challenge-row-1', row.hash, row.user_id ?? '', String(row.expires_at.getTime())]);
}
