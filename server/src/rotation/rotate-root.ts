import { IntegrityError } from '../crypto/integrity-error.js';
import {
  findRootCheck,
  findSystemKeys,
  findTenantKeys,
  updateRootCheck,
  updateSystemKey,
} from '../crypto/key-queries.js';
import type { KeyStore } from '../crypto/key-store.js';
import { areAllWrappedBy, rewrapSystemKeys, rewrapTenantKeys } from '../crypto/rewrap.js';
import { makeRootCheck, verifyRootCheck } from '../crypto/root-check.js';
import type { RootKey } from '../crypto/root-key.js';
import { generateRootKey, parseRootKey } from '../crypto/root-key.js';
import type { RootKeyRing } from '../crypto/root-key-ring.js';
import { openSystemKeys } from '../crypto/system-keys.js';
import type { Clock } from '../kernel/clock.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { Database } from '../storage/database.js';
import { tryLockRootRotation } from './queries.js';
import { retryWhileUnreachable, type Wait } from './retry.js';
import { SETTLE_MS } from './rotate-tenant.js';
import { everyTenantId } from './tenants.js';

export interface RootRotationOptions {
  readonly database: Database;
  readonly keyStore: Pick<KeyStore, 'custody'>;
  readonly clock: Clock;
  readonly wait: Wait;
  /** The key to change to; a new one is made without it. */
  readonly newKey?: RootKey | undefined;
  readonly onProgress: (progress: RootRotationProgress) => void;
}

export interface RootRotationProgress {
  readonly phase: 'wrapping' | 'waiting' | 'checking';
  readonly tenants: number;
}

export interface RootRotationSummary {
  readonly rootKeyId: string;
  readonly previousIds: readonly string[];
  readonly isResumed: boolean;
  /** Rows that were wrapped anew by this run. */
  readonly keys: number;
  /** Tenants with a key that no key of the ring opens. While there are any, the old root key stays. */
  readonly damagedTenants: readonly string[];
  /** The old key is gone from the key file; false for keys given as a variable. */
  readonly isFileDone: boolean;
}

/**
 * Wraps every key anew. The key file holds both root keys from before the first change until after the last look, so at
 * every moment the files as they are open the database as it is, and a run that was killed goes on from there.
 */
export async function rotateRoot(options: RootRotationOptions): Promise<RootRotationSummary> {
  return options.database.system(async (tx) => {
    if (await tryLockRootRotation(tx)) return rotateAlone(options);
    throw new ExitError(
      EXIT.unavailable,
      'Another rotation of the root key is at work on this database. Wait until it has ended.',
    );
  });
}

async function rotateAlone(options: RootRotationOptions): Promise<RootRotationSummary> {
  const { database, clock, wait } = options;
  const { custody } = options.keyStore;
  const { ring, isResumed } = await prepareRing(options);
  const [rootKey, ...previous] = ring;
  let { wrapped: keys, damaged } = await wrapTenants(options, ring, 'wrapping');
  keys += await retryWhileUnreachable(wait, () => wrapInstallation(database, ring));
  for (;;) {
    // Whoever held the old ring when the file or the check row changed has committed by then.
    await settle(options, clock.monotonicMs() + SETTLE_MS);
    const check = await wrapTenants(options, ring, 'checking');
    keys += check.wrapped;
    damaged = check.damaged;
    if (check.wrapped === 0) break;
  }
  await retryWhileUnreachable(wait, () => verifyInstallation(database, rootKey));
  const isFileDone = custody.file !== undefined && damaged.length === 0;
  if (isFileDone) await custody.replace([rootKey]);
  const previousIds = previous.map(({ id }) => id);
  return { rootKeyId: rootKey.id, previousIds, isResumed, keys, damagedTenants: damaged, isFileDone };
}

/** Both keys, on disk before anything is wrapped by the new one. */
async function prepareRing({ database, keyStore, newKey, wait }: RootRotationOptions) {
  // Read again under the lock: another rotation may have ended between our start and now.
  const ring = await keyStore.custody.reload();
  const check = await retryWhileUnreachable(wait, () => database.lookUp(findRootCheck));
  if (check === undefined) throw fault('The database is not sealed yet. Start the service once, then rotate.');
  verifyRootCheck(ring, check);
  if (ring.length > 1) {
    if (newKey !== undefined && newKey.id !== ring[0].id) {
      throw fault(
        `A rotation to root key ${ring[0].id} is under way, and another new key was given. ` +
          'Finish it first: run "strongroom keys rotate-root" without a new key.',
      );
    }
    return { ring, isResumed: true };
  }
  if (keyStore.custody.file === undefined) {
    throw fault(
      'STRONGROOM_ROOT_KEY holds one key. Make a new one with "strongroom root-key generate", restart every server ' +
        'with STRONGROOM_ROOT_KEY set to the new key, a comma and the old key, then run this command with the same.',
    );
  }
  const first = newKey ?? parseRootKey(generateRootKey().reveal());
  if (first.id === ring[0].id) throw fault(`Root key ${first.id} is the one in use. Give another as the new key.`);
  const both: RootKeyRing = [first, ...ring];
  await keyStore.custody.replace(both);
  return { ring: both, isResumed: false };
}

async function wrapTenants(options: RootRotationOptions, ring: RootKeyRing, phase: 'wrapping' | 'checking') {
  const { database, wait } = options;
  let [wrapped, tenants] = [0, 0];
  const damaged: string[] = [];
  for await (const tenantId of everyTenantId(database, wait)) {
    try {
      wrapped += await retryWhileUnreachable(wait, () => wrapTenant(database, ring, tenantId));
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      damaged.push(tenantId);
    }
    tenants += 1;
    options.onProgress({ phase, tenants });
  }
  return { wrapped, damaged };
}

/** Looks first without a lock: in most passes there is nothing to do. */
async function wrapTenant(database: Database, ring: RootKeyRing, tenantId: string): Promise<number> {
  const rows = await database.read(tenantId, findTenantKeys);
  if (areAllWrappedBy(ring[0], tenantId, rows)) return 0;
  return database.write(tenantId, (tx) => rewrapTenantKeys(tx, ring));
}

/** The keys of the installation and the check row change hands together. */
async function wrapInstallation(database: Database, ring: RootKeyRing): Promise<number> {
  return database.system(async (tx) => {
    const rows = rewrapSystemKeys(ring, await findSystemKeys(tx));
    for (const row of rows) await updateSystemKey(tx, row);
    const check = await findRootCheck(tx);
    if (check?.rootKeyId !== ring[0].id) await updateRootCheck(tx, makeRootCheck(ring[0]));
    return rows.length;
  });
}

/** Under the new key alone, as the next start will have it. */
async function verifyInstallation(database: Database, rootKey: RootKey): Promise<void> {
  const [check, rows] = await database.lookUp((tx) => Promise.all([findRootCheck(tx), findSystemKeys(tx)]));
  if (check === undefined) throw fault('The check row is gone from the database. Restore it from a backup.');
  verifyRootCheck([rootKey], check);
  openSystemKeys([rootKey], rows);
}

async function settle({ clock, wait, onProgress }: RootRotationOptions, untilMs: number): Promise<void> {
  for (let restMs = untilMs - clock.monotonicMs(); restMs > 0; restMs = untilMs - clock.monotonicMs()) {
    onProgress({ phase: 'waiting', tenants: 0 });
    await wait(Math.ceil(restMs));
  }
}

function fault(message: string): ExitError {
  return new ExitError(EXIT.configuration, message);
}
