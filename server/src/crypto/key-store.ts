import { storageUnavailable } from '../kernel/errors.js';
import type { Database } from '../storage/database.js';
import type { SystemTx, TenantTx } from '../storage/scope.js';
import type { Custody } from './custody.js';
import { createCustody } from './custody.js';
import {
  deleteTenantKeys,
  findRootCheck,
  findSystemKeys,
  findTenantKeys,
  insertRootCheck,
  insertSystemKey,
  insertTenantKey,
} from './key-queries.js';
import { Keyring } from './keyring.js';
import type { RootCheck } from './root-check.js';
import { makeRootCheck, verifyRootCheck } from './root-check.js';
import type { RootKey } from './root-key.js';
import type { RootKeySource } from './root-key-custody.js';
import { loadRootKey } from './root-key-custody.js';
import type { RootKeyRing } from './root-key-ring.js';
import { idsOf } from './root-key-ring.js';
import type { SystemKeys } from './system-keys.js';
import { generateSystemKeys, openSystemKeys } from './system-keys.js';
import { generateEncryptionKey, generateTenantKeys } from './tenant-keys.js';

/** The stored keys, opened. */
export interface KeyStore {
  /** Of the root key that sealed the database when it was opened. */
  readonly rootKeyId: string;
  readonly systemKeys: SystemKeys;
  readonly keyring: Keyring;
  readonly custody: Custody;
  /** For one change, and asked for right before it: inside its transaction this would take a second connection. */
  keyMaker(): Promise<KeyMaker>;
  /** After the commit nothing of the tenant can be decrypted any more. */
  destroyTenantKeys(tx: TenantTx): Promise<void>;
}

export interface KeyMaker {
  createTenantKeys(tx: TenantTx, atMs: number): Promise<void>;
  /** Adds a version of the tenant's encryption key. */
  addEncryptionKey(tx: TenantTx, version: number, atMs: number): Promise<void>;
}

export interface OpenedKeyStore {
  readonly keyStore: KeyStore;
  readonly warnings: readonly string[];
}

/** Where the root key may come from, before the database has been asked which one it wants. */
export type UnboundRootKeySource = Omit<RootKeySource, 'databaseHoldsData' | 'sealedById'>;

/** The database is sealed by a root key that this process does not hold. */
export class RootKeyChanged extends Error {
  override readonly name = 'RootKeyChanged';
}

const TENANTS_UNWRAPPED_MAX = 10_000;

/** Opens the keys, or makes them for an empty database; refuses a root key that is not the one that sealed it. */
export async function openKeyStore(database: Database, source: UnboundRootKeySource): Promise<OpenedKeyStore> {
  const { check, systemKeyRows } = await database.lookUp(findSealed);
  const { ring, file, warnings } = await loadRootKey({
    ...source,
    databaseHoldsData: check !== undefined,
    sealedById: check?.rootKeyId,
  });
  const sealedBy = check === undefined ? await sealDatabase(database, ring) : verifyRootCheck(ring, check);
  const systemKeys = openSystemKeys(ring, check ? systemKeyRows : await database.lookUp(findSystemKeys));
  const custody = createCustody({ ring, file });
  const keyring = new Keyring({
    custody,
    loadRows: (tenantId) => database.read(tenantId, findTenantKeys),
    entriesMax: TENANTS_UNWRAPPED_MAX,
  });
  const keyStore: KeyStore = {
    rootKeyId: sealedBy.id,
    systemKeys,
    keyring,
    custody,
    async keyMaker() {
      const check = await database.lookUp(findRootCheck);
      return {
        async createTenantKeys(tx, atMs) {
          const rows = generateTenantKeys(await wrappingKey(custody, check), tx.tenantId);
          await Promise.all(rows.map((row) => insertTenantKey(tx, row, atMs)));
        },
        async addEncryptionKey(tx, version, atMs) {
          const row = generateEncryptionKey(await wrappingKey(custody, check), tx.tenantId, version);
          await insertTenantKey(tx, row, atMs);
        },
      };
    },
    destroyTenantKeys: deleteTenantKeys,
  };
  return { keyStore, warnings };
}

/**
 * The key that wraps new keys. The file is read again and compared with the database, because a key wrapped by a root
 * key that was rotated away could not be opened after the next start.
 */
async function wrappingKey(custody: Custody, check: RootCheck | undefined): Promise<RootKey> {
  const ring = await custody.reload();
  if (check === undefined || !idsOf(ring).includes(check.rootKeyId)) {
    throw storageUnavailable(new RootKeyChanged('this process needs the new root key to make keys'));
  }
  return ring[0];
}

/** Looks without touching: which root key sealed the database, and whether the one given opens it. */
export async function examineKeys(
  database: Database,
  source: UnboundRootKeySource,
): Promise<{ readonly rootKeyId: string; readonly warnings: readonly string[] } | undefined> {
  const { check, systemKeyRows } = await database.lookUp(findSealed);
  if (check === undefined) return undefined;
  const { ring, warnings } = await loadRootKey({ ...source, databaseHoldsData: true, sealedById: check.rootKeyId });
  const rootKey = verifyRootCheck(ring, check);
  openSystemKeys(ring, systemKeyRows);
  return { rootKeyId: rootKey.id, warnings };
}

/** Read before the key file: a rotation under way puts a key there before it uses it, and removes one long after. */
async function findSealed(tx: SystemTx) {
  const [check, systemKeyRows] = await Promise.all([findRootCheck(tx), findSystemKeys(tx)]);
  return { check, systemKeyRows };
}

/** The check row and the system keys come into being together. Of two processes at once the first one counts. */
async function sealDatabase(database: Database, ring: RootKeyRing): Promise<RootKey> {
  const [rootKey] = ring;
  const check = await database.system(async (tx) => {
    if (await insertRootCheck(tx, makeRootCheck(rootKey))) {
      for (const row of generateSystemKeys(rootKey)) await insertSystemKey(tx, row);
      return undefined;
    }
    return findRootCheck(tx);
  });
  return check === undefined ? rootKey : verifyRootCheck(ring, check);
}
