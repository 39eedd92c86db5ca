import { AppError } from '../../kernel/errors.js';
import { Overtaken } from '../../storage/faults.js';
import type { TenantTx } from '../../storage/scope.js';
import { findWholeTokens } from '../queries.js';
import type { FoundRow, TokenRow } from '../stored/row.js';
import { isLarge, sealedBytesOf } from '../stored/row.js';

/** What one change may bring into memory of records that are large, counted as often as its answer shows them. */
const WHOLE_BYTES_MAX = 4_194_304;

/** What rows hold that were left in the database for their size; 413 when it is too much for one answer. */
export function largeBytesOf(rows: readonly FoundRow[]): number {
  const bytes = rows.filter(isLarge).reduce((sum, row) => sum + sealedBytesOf(row), 0);
  if (bytes <= WHOLE_BYTES_MAX) return bytes;
  throw new AppError(
    'payload_too_large',
    `The tokens that hold these values already are together larger than ${WHOLE_BYTES_MAX} bytes. Send fewer values at once.`,
  );
}

/** The rows with their records, in the same order. One that is gone meanwhile makes the change go again. */
export async function wholeRows(tx: TenantTx, rows: readonly FoundRow[]): Promise<TokenRow[]> {
  const ids = [...new Set(rows.filter(isLarge).map(({ id }) => id))];
  const read = ids.length === 0 ? [] : await findWholeTokens(tx, ids);
  const whole = new Map(read.map((row) => [row.id, row]));
  return rows.map((row) => {
    const found = isLarge(row) ? whole.get(row.id) : row;
    if (found === undefined) throw new Overtaken('a large token went while it was read');
    return found;
  });
}
