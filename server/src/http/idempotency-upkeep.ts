import { readRecordHeader } from '../crypto/aead.js';
import { openField, sealField } from '../crypto/envelope.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import type { Database } from '../storage/database.js';
import type { TenantTx } from '../storage/scope.js';
import { deleteDue, listKept, listTenantsWithDue, replaceSealed } from './idempotency-queries.js';
import { contextOf } from './kept-answer.js';

/** Removes at most `batch` answers whose time is over, and returns how many it removed. */
export async function sweepIdempotencyKeys(
  database: Pick<Database, 'lookUp' | 'write'>,
  nowMs: number,
  batch: number,
): Promise<number> {
  const tenants = await database.lookUp((tx) => listTenantsWithDue(tx, nowMs, batch));
  let removed = 0;
  for (const tenantId of tenants) {
    const left = batch - removed;
    if (left <= 0) break;
    removed += await database.write(tenantId, (tx) => deleteDue(tx, nowMs, left));
  }
  return removed;
}

export interface Resealed {
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined;
  readonly resealed: number;
  readonly seen: number;
}

/**
 * Puts the tenant's current key on answers sealed under an older one, in the order of their ids from behind `afterHex`
 * (empty for the first). What an answer shows to one credential alone stays sealed inside.
 */
export async function resealIdempotencyKeys(
  tx: TenantTx,
  keys: TenantKeys,
  afterHex: string,
  limit: number,
): Promise<Resealed> {
  const rows = await listKept(tx, Buffer.from(afterHex, 'hex'), limit);
  const old = rows.filter(({ sealed }) => readRecordHeader(sealed).keyVersion !== keys.encryption.currentVersion);
  const done = await Promise.all(
    old.map(({ id, sealed }) => {
      const context = contextOf({ keys, id });
      const plaintext = openField(keys, context, sealed);
      const anew = sealField(keys, context, plaintext);
      plaintext.fill(0);
      return replaceSealed(tx, id, sealed, anew);
    }),
  );
  const isMore = rows.length === limit;
  return {
    next: isMore ? rows.at(-1)?.id.toString('hex') : undefined,
    resealed: done.filter((isReplaced) => isReplaced).length,
    seen: rows.length,
  };
}
