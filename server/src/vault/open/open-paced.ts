import { createKeyedLock } from '../../kernel/keyed-lock.js';
import type { LargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import { findWholeTokens } from '../queries.js';
import type { FoundRow, TokenRow } from '../stored/row.js';
import { isExpired, isLarge } from '../stored/row.js';
import type { OpenRow, RowOpener } from './open-rows.js';

/**
 * Opens rows that are large, when it is their turn. What was left in the database is read as it is now; what is gone
 * or expired meanwhile is left out. The caller has the room, and keeps nothing but what `use` returns.
 */
export type OpenPaced = <T>(
  tenantId: string,
  rows: readonly FoundRow[],
  nowMs: number,
  use: (tokens: readonly OpenRow[]) => T,
) => Promise<T>;

/**
 * A tenant reads one piece at a time: taking a large record off the wire costs as much as opening it, and what is read
 * ahead is memory. Among tenants only the opening waits for its turn: what one waits for at the database is its own
 * affair.
 */
export function createOpenPaced(database: Database, largeWork: LargeWork, opener: RowOpener): OpenPaced {
  const inTurn = createKeyedLock();

  return (tenantId, rows, nowMs, use) =>
    inTurn(tenantId, async () => {
      const whole = await readWhole(database, tenantId, rows, nowMs);
      const keys = await opener.keysFor(tenantId, whole);
      return largeWork.paced.run(tenantId, () => use(opener.openBy(keys, whole)));
    });
}

/** In the order of the rows that were asked for. */
async function readWhole(
  database: Database,
  tenantId: string,
  rows: readonly FoundRow[],
  nowMs: number,
): Promise<TokenRow[]> {
  const ids = rows.filter(isLarge).map(({ id }) => id);
  // By key, past the gate of pages: whoever waits there with the turn would hold up large work of other tenants.
  const read = ids.length === 0 ? [] : await database.read(tenantId, (tx) => findWholeTokens(tx, ids));
  const whole = new Map(read.map((row) => [row.id, row]));
  const found = rows.map((row) => (isLarge(row) ? whole.get(row.id) : row)).filter((row) => row !== undefined);
  return found.filter((row) => !isExpired(row, nowMs));
}
