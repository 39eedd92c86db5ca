import { AppError } from '../../kernel/errors.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import type { TokenKey } from '../queries.js';
import { FIND_IDS } from '../queries.js';
import type { PreparedToken } from './prepare.js';

/**
 * Writes tokens, or refuses them for an id that is taken. That is looked for first, together with others who look: found in
 * the change of a request with several tokens it undoes a batch, and everybody in it goes again.
 */
export function writeUnlessTaken<T>(
  database: Database,
  tenantId: string,
  tokens: readonly PreparedToken[],
  nowMs: number,
  work: (tx: TenantTx) => Promise<T>,
): Promise<T> {
  const chosen = tokens.filter(isIdChosen);
  if (chosen.length === 0) return database.write(tenantId, work);
  return refuseTaken(database, tenantId, chosen, nowMs).then(() => database.write(tenantId, work));
}

/** The client wrote it down. What an expression gives is made up anew when it is taken. */
export function isIdChosen({ isIdOurs, idExpression }: PreparedToken): boolean {
  return !isIdOurs && idExpression === undefined;
}

async function refuseTaken(
  database: Database,
  tenantId: string,
  chosen: readonly PreparedToken[],
  nowMs: number,
): Promise<void> {
  // A match of deduplication is answered with the match, whatever became of the id.
  const asked = chosen.filter(({ isDeduplicated }) => !isDeduplicated);
  const keys = new Map<string, TokenKey>();
  for (const { row, idPath } of asked) {
    if (keys.has(row.id)) throw idTaken(idPath);
    keys.set(row.id, { tenantId, id: row.id });
  }
  const found = await Promise.all(
    [...keys.values()].map(async (key) => (await database.find(tenantId, FIND_IDS, key)).isLive(key, nowMs)),
  );
  const taken = asked.find((_, n) => found[n]);
  if (taken) throw idTaken(taken.idPath);
}

export function idTaken(path: string): AppError {
  return new AppError('token_id_conflict', 'A token with this id exists already. Choose another id, or leave it out.', {
    errors: { [path]: ['is taken'] },
  });
}
