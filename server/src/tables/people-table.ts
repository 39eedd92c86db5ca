import type { KeyObject } from 'node:crypto';
import type { PeopleTx } from '../storage/scope.js';
import type { WalkStep } from './walk.js';
import { stepOf } from './walk.js';

/** A table of people, who belong to no tenant, whose rows are sealed or carry a MAC: how `keys verify` goes through it. */
export interface PeopleTable {
  readonly name: string;
  /** Looks at the next `limit` rows after `position`. Starts at ''. */
  readonly verify: (tx: PeopleTx, rowMacKey: KeyObject, position: string, limit: number) => Promise<WalkStep>;
}

interface PeopleRows<Row extends object> {
  readonly name: string;
  readonly list: (tx: PeopleTx, after: string, limit: number) => Promise<readonly Row[]>;
  /** Where a row is in the order of the walk, and its name in a report: never an address or a secret. */
  readonly placeOf: (row: Row) => string;
  /** Whether a row is as the product wrote it. */
  readonly check: (rowMacKey: KeyObject) => (row: Row) => boolean;
}

export function definePeopleTable<Row extends object>({ name, list, placeOf, check }: PeopleRows<Row>): PeopleTable {
  return {
    name,
    async verify(tx, rowMacKey, position, limit) {
      const page = await list(tx, position, limit);
      const isSound = check(rowMacKey);
      const faults = page.filter((row) => !hasTimes(row) || !isSound(row));
      return stepOf(page, limit, placeOf, faults.map(placeOf));
    },
  };
}

/** The database knows a moment `infinity`, which no date is. The product never writes one. */
function hasTimes(row: object): boolean {
  return Object.values(row).every((value) => typeof value !== 'number' || Number.isFinite(value));
}
