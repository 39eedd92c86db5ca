import { keyVersionOf } from '../crypto/aead.js';
import { openField, resealField } from '../crypto/envelope.js';
import { IntegrityError } from '../crypto/integrity-error.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import type { Database } from '../storage/database.js';
import type { TenantTx } from '../storage/scope.js';
import type { ResealStep, WalkStep } from '../tables/walk.js';
import { contextOf } from './kept-answer.js';
import { deleteDue, listKept, listTenantsWithDue, replaceSealed } from './queries.js';

/** Removes at most `batch` answers whose time is over, and returns how many it removed. */
export async function sweepIdempotencyKeys(
  database: Pick<Database, 'survey' | 'write'>,
  nowMs: number,
  batch: number,
): Promise<number> {
  const tenants = await database.survey((tx) => listTenantsWithDue(tx, nowMs, batch));
  let removed = 0;
  for (const tenantId of tenants) {
    const left = batch - removed;
    if (left <= 0) break;
    removed += await database.write(tenantId, (tx) => deleteDue(tx, nowMs, left));
  }
  return removed;
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
): Promise<ResealStep> {
  const rows = await listKept(tx, Buffer.from(afterHex, 'hex'), limit);
  const old = rows.filter((row) => !isEmpty(row) && keyVersionOf(row.sealed) !== keys.encryption.currentVersion);
  const faults: string[] = [];
  const anew = old.flatMap(({ id, sealed }) => {
    const record = orFault(faults, id, () => resealField(keys, contextOf({ keys, id }), sealed));
    return record ? [{ id, sealed, record }] : [];
  });
  const done = await Promise.all(anew.map(({ id, sealed, record }) => replaceSealed(tx, id, sealed, record)));
  return {
    next: nextOf(rows, limit),
    resealed: done.filter((isReplaced) => isReplaced).length,
    seen: rows.length,
    ...(faults.length > 0 && { faults }),
  };
}

/** Opens the outer seal of answers from behind `afterHex`; what they show to one credential alone stays closed. */
export async function verifyIdempotencyKeys(
  tx: TenantTx,
  keys: TenantKeys,
  afterHex: string,
  limit: number,
): Promise<WalkStep & { readonly faults: readonly string[] }> {
  const rows = await listKept(tx, Buffer.from(afterHex, 'hex'), limit);
  const faults: string[] = [];
  for (const { id, sealed } of rows.filter((row) => !isEmpty(row))) {
    orFault(faults, id, () => openField(keys, contextOf({ keys, id }), sealed))?.fill(0);
  }
  return { next: nextOf(rows, limit), seen: rows.length, faults };
}

/** Nothing but the success of its request is kept. */
function isEmpty({ sealed }: { readonly sealed: Buffer }): boolean {
  return sealed.length === 0;
}

function orFault(faults: string[], id: Buffer, act: () => Buffer): Buffer | undefined {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof IntegrityError)) throw error;
    faults.push(id.toString('hex'));
    return undefined;
  }
}

function nextOf(rows: readonly { readonly id: Buffer }[], limit: number): string | undefined {
  return rows.length === limit ? rows.at(-1)?.id.toString('hex') : undefined;
}
