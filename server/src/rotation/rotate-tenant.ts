import { IntegrityError } from '../crypto/integrity-error.js';
import { deleteEncryptionKeysBefore } from '../crypto/key-queries.js';
import type { KeyStore } from '../crypto/key-store.js';
import type { Clock } from '../kernel/clock.js';
import { announce } from '../storage/changes.js';
import type { Database } from '../storage/database.js';
import type { TableRecord } from '../tables/table.js';
import type { SealedRows } from '../tables/walk.js';
import type { RotationRow } from './queries.js';
import {
  findNewestKey,
  findUnfinishedRotation,
  finishRotation,
  insertRotation,
  lockTenant,
  updateRotationPosition,
} from './queries.js';
import { createBatches, retryWhileUnreachable, type Wait } from './retry.js';

export interface RotationOptions {
  readonly database: Database;
  readonly keyStore: Pick<KeyStore, 'keyring' | 'keyMaker'>;
  readonly clock: Clock;
  readonly tables: readonly TableRecord[];
  readonly wait: Wait;
}

/**
 * A writer may have taken the old key just before it heard of the new one, and a reader a row just before it was sealed
 * anew. A notice is heard within a second, a request has at most some 15 s for its statements and its place in the
 * commit queue; twice that is waited before anything is concluded.
 */
export const SETTLE_MS = 30_000;
const BATCH_ROWS = 500;
/** Stands for a table's name once all of them were walked through. */
const WALKED = 'walked';

export interface Begun extends RotationRow {
  readonly tenantId: string;
  readonly isResumed: boolean;
}

/**
 * Makes the next version of the tenant's encryption key, or goes on with a rotation that was not finished. Undefined when
 * there is nothing to do: the tenant is gone, or its key is no older than asked for.
 */
export function beginRotation(
  { database, keyStore, clock, wait }: RotationOptions,
  tenantId: string,
  madeBeforeMs = Number.POSITIVE_INFINITY,
): Promise<Begun | undefined> {
  return retryWhileUnreachable(wait, async () => {
    const keyMaker = await keyStore.keyMaker();
    const begun = await database.write(tenantId, async (tx) => {
      if (!(await lockTenant(tx))) return undefined;
      const unfinished = await findUnfinishedRotation(tx);
      if (unfinished) return { ...unfinished, tenantId, isResumed: true };
      const newest = await findNewestKey(tx);
      if (!newest || newest.created_at.getTime() >= madeBeforeMs) return undefined;
      const row = { to_version: newest.version + 1, stage: '', place: '' };
      await keyMaker.addEncryptionKey(tx, row.to_version, clock.nowMs());
      await insertRotation(tx, row, clock.nowMs());
      await announce(tx, { kind: 'access', tenantId });
      return { ...row, tenantId, isResumed: false };
    });
    keyStore.keyring.evict(tenantId);
    return begun;
  });
}

export interface Pass {
  readonly seen: number;
  readonly resealed: number;
  /** Table and id of rows that do not open. */
  readonly faults: readonly { readonly table: string; readonly id: string }[];
}

/**
 * Walks once through everything the tenant has. The first walk goes on where an earlier run stopped and writes down how
 * far it came, in the transaction of each batch; later ones look at everything.
 */
export async function walkTable(
  options: RotationOptions,
  rotation: Begun,
  isFirst: boolean,
  onStep: (seen: number) => void,
): Promise<Pass> {
  const { database, keyStore, wait } = options;
  const stages = stagesOf(options);
  const { tenantId, to_version } = rotation;
  // Fetched anew for each walk, so that a still newer version made meanwhile is known.
  keyStore.keyring.evict(tenantId);
  const keys = await retryWhileUnreachable(wait, async () => keyStore.keyring.forTenant(tenantId)).catch(orGone);
  if (keys === undefined) return { seen: 0, resealed: 0, faults: [] };
  const startAt = isFirst ? stages.findIndex(({ name }) => name === rotation.stage) : -1;
  if (isFirst && rotation.stage === WALKED) return { seen: 0, resealed: 0, faults: [] };
  let [seen, resealed] = [0, 0];
  const inBatches = createBatches(wait, BATCH_ROWS);
  const faults: { table: string; id: string }[] = [];
  for (const [index, stage] of stages.entries()) {
    if (index < startAt) continue;
    let position: string | undefined = index === startAt ? rotation.place : '';
    while (position !== undefined) {
      const from: string = position;
      const step = await inBatches((rows) =>
        database.write(tenantId, async (tx) => {
          const taken = await stage.sealed.reseal(tx, keys, from, rows);
          if (isFirst && taken.next !== undefined && taken.resealed > 0) {
            await updateRotationPosition(tx, { to_version, stage: stage.name, place: taken.next });
          }
          return taken;
        }),
      );
      seen += step.seen;
      resealed += step.resealed;
      faults.push(...(step.faults ?? []).map((id) => ({ table: stage.name, id })));
      position = step.next;
      onStep(step.seen);
    }
  }
  if (isFirst && faults.length === 0) {
    await retryWhileUnreachable(wait, () =>
      database.write(tenantId, (tx) => updateRotationPosition(tx, { to_version, stage: WALKED, place: '' })),
    );
  }
  return { seen, resealed, faults };
}

/** The tables to walk through, in the order of their declaration: how far a rotation came is stored by their names. */
export function stagesOf({ tables }: Pick<RotationOptions, 'tables'>): { name: string; sealed: SealedRows }[] {
  return tables.flatMap(({ name, sealed }) => (sealed ? [{ name, sealed }] : []));
}

/** The keyring says so in its own words when there are no keys at all: the tenant was deleted meanwhile. */
function orGone(error: unknown): undefined {
  if (error instanceof IntegrityError) return undefined;
  throw error;
}

/** Deletes the older versions. From the commit on, whatever a copy of the database still holds under them is unreadable. */
export async function finish(options: RotationOptions, { tenantId, to_version }: Begun): Promise<void> {
  const { database, keyStore, clock, wait } = options;
  await retryWhileUnreachable(wait, () =>
    database.write(tenantId, async (tx) => {
      await deleteEncryptionKeysBefore(tx, to_version);
      await finishRotation(tx, to_version, clock.nowMs());
      await announce(tx, { kind: 'access', tenantId });
    }),
  );
  keyStore.keyring.evict(tenantId);
}
