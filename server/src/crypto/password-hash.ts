import type { KeyObject } from 'node:crypto';
import { randomBytes, scrypt } from 'node:crypto';
import { assert } from '../kernel/assert.js';
import type { ByteBudgetOptions } from '../kernel/byte-budget.js';
import { createByteBudget } from '../kernel/byte-budget.js';
import type { Secret } from '../kernel/secret.js';
import { IntegrityError } from './integrity-error.js';
import { macEquals, macOf } from './keyed-hash.js';

/** What one guess costs: N = 2^workFactor. */
export interface PasswordCost {
  readonly workFactor: number;
  readonly blockSize: number;
  readonly parallel: number;
}

export interface PasswordHasher {
  /** What is stored in place of a password. */
  hash(userId: string, password: Secret<string>): Promise<string>;
  /** Throws IntegrityError for a stored text that is none of ours; it has cost the same by then. */
  verify(userId: string, password: Secret<string>, stored: string): Promise<PasswordVerdict>;
  /** For a user that does not exist: as much work as `verify`, so that the time does not tell who exists. */
  burn(password: Secret<string>): Promise<void>;
}

export interface PasswordVerdict {
  readonly matches: boolean;
  /** Made at another cost than today's: hash the password anew while it is at hand. */
  readonly isOutdated: boolean;
}

export interface PasswordHasherOptions {
  /** The system key for MACs of rows. */
  readonly rowMacKey: KeyObject;
  /** Lower in tests. */
  readonly cost?: PasswordCost;
  /** A timer that can be cancelled; tests replace it. */
  readonly after?: ByteBudgetOptions['after'];
}

/** 128 MiB and about three tenths of a second for every guess (decision 44). */
export const PASSWORD_COST: PasswordCost = { workFactor: 17, blockSize: 8, parallel: 1 };
/** Costs of earlier releases: texts made at them still verify. */
const EARLIER_COSTS: readonly PasswordCost[] = [];

export const PASSWORDS_AT_ONCE_MAX = 2;
export const PASSWORDS_WAITING_MAX = 64;
export const PASSWORD_WAIT_MAX_MS = 10_000;

const MAC_LABEL = 'password-1';
const SALT_BYTES = 16;
const OUTPUT_BYTES = 32;
const MEMORY_SPARE_BYTES = 1_048_576;
/** Everybody shares one budget: who a request is for is not known before its password is checked. */
const OWNER = '';
const NO_USER = '';
const STORED_PATTERN = /^scrypt:(\d{1,2}):(\d{1,2}):(\d{1,2}):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{43})$/;

interface StoredHash {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly mac: Buffer;
}

/**
 * Hashes passwords with scrypt, then with a key that is not in the database. Without that key a copy of the table cannot be
 * guessed at, and a login that writes to it can neither make a hash nor give a user the hash of another one.
 */
export function createPasswordHasher({
  rowMacKey,
  cost: current = PASSWORD_COST,
  after,
}: PasswordHasherOptions): PasswordHasher {
  const known = [current, PASSWORD_COST, ...EARLIER_COSTS];
  const bytesMax = PASSWORDS_AT_ONCE_MAX * memoryOf(current);
  const budget = createByteBudget({
    bytesMax,
    ownerBytesMax: bytesMax,
    waitingMax: PASSWORDS_WAITING_MAX,
    ownerWaitingMax: PASSWORDS_WAITING_MAX,
    waitMaxMs: PASSWORD_WAIT_MAX_MS,
    ...(after && { after }),
  });

  async function macFor(userId: string, password: Secret<string>, cost: PasswordCost, salt: Buffer): Promise<Buffer> {
    const release = await budget.take(OWNER, memoryOf(cost));
    try {
      const output = await stretch(password, cost, salt);
      try {
        return macOf(rowMacKey, [MAC_LABEL, userId, costText(cost), salt, output]);
      } finally {
        output.fill(0);
      }
    } finally {
      release();
    }
  }

  const burn = async (password: Secret<string>): Promise<void> => {
    await macFor(NO_USER, password, current, Buffer.alloc(SALT_BYTES));
  };

  return {
    burn,
    async hash(userId, password) {
      assert(userId !== NO_USER, 'a password belongs to a user');
      const salt = randomBytes(SALT_BYTES);
      const mac = await macFor(userId, password, current, salt);
      return `scrypt:${costText(current)}:${salt.toString('base64url')}:${mac.toString('base64url')}`;
    },
    async verify(userId, password, stored) {
      const parsed = parseStored(stored, known);
      if (parsed === undefined) {
        await burn(password);
        throw new IntegrityError('A stored password hash is damaged, or was made at an unknown cost.');
      }
      const { cost, salt, mac } = parsed;
      const matches = macEquals(await macFor(userId, password, cost, salt), mac);
      return { matches, isOutdated: costText(cost) !== costText(current) };
    },
  };
}

/** Whether a text is one that `hash` gives, for some user and some password. */
export function isStoredPassword(stored: string): boolean {
  return parseStored(stored, [PASSWORD_COST, ...EARLIER_COSTS]) !== undefined;
}

/** A cost is one of a few and no number that the row asks for: whoever writes rows could ask for gigabytes. */
function parseStored(stored: string, known: readonly PasswordCost[]): StoredHash | undefined {
  const [, workFactor, blockSize, parallel, salt, mac] = STORED_PATTERN.exec(stored) ?? [];
  if (salt === undefined || mac === undefined) return undefined;
  const cost = known.find((one) => costText(one) === `${workFactor}:${blockSize}:${parallel}`);
  return cost && { cost, salt: Buffer.from(salt, 'base64url'), mac: Buffer.from(mac, 'base64url') };
}

function costText({ workFactor, blockSize, parallel }: PasswordCost): string {
  return `${workFactor}:${blockSize}:${parallel}`;
}

function memoryOf({ workFactor, blockSize, parallel }: PasswordCost): number {
  return 128 * blockSize * (2 ** workFactor + parallel);
}

function stretch(password: Secret<string>, cost: PasswordCost, salt: Buffer): Promise<Buffer> {
  const { workFactor, blockSize, parallel } = cost;
  const options = { N: 2 ** workFactor, r: blockSize, p: parallel, maxmem: memoryOf(cost) + MEMORY_SPARE_BYTES };
  // One text has several spellings in Unicode, and keyboards differ in which they write.
  const bytes = Buffer.from(password.reveal().normalize('NFC'));
  return new Promise((resolve, reject) => {
    scrypt(bytes, salt, OUTPUT_BYTES, options, (error, output) => {
      bytes.fill(0);
      if (error) reject(error);
      else resolve(output);
    });
  });
}
