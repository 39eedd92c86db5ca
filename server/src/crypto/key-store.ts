import type { Database } from '../storage/database.js';
import type { TenantTx } from '../storage/scope.js';
import {
  deleteTenantKeys,
  findRootCheck,
  findSystemKeys,
  findTenantKeys,
  insertRootCheck,
  insertSystemKey,
  insertTenantKey,
} from './key-queries.js';
import type { Keyring } from './keyring.js';
import { createKeyring } from './keyring.js';
import { makeRootCheck, verifyRootCheck } from './root-check.js';
import type { RootKey } from './root-key.js';
import type { RootKeySource } from './root-key-custody.js';
import { loadRootKey } from './root-key-custody.js';
import type { SystemKeys } from './system-keys.js';
import { generateSystemKeys, openSystemKeys } from './system-keys.js';
import { generateTenantKeys } from './tenant-keys.js';

/** The stored keys, opened. */
export interface KeyStore {
  readonly rootKeyId: string;
  readonly systemKeys: SystemKeys;
  readonly keyring: Keyring;
  createTenantKeys(tx: TenantTx, atMs: number): Promise<void>;
  /** After the commit nothing of the tenant can be decrypted any more. */
  destroyTenantKeys(tx: TenantTx): Promise<void>;
}

export interface OpenedKeyStore {
  readonly keyStore: KeyStore;
  readonly warnings: readonly string[];
}

/** Where the root key may come from, before the database has been asked which one it wants. */
export type UnboundRootKeySource = Omit<RootKeySource, 'databaseHoldsData' | 'sealedById'>;

const TENANTS_UNWRAPPED_MAX = 10_000;

/** Opens the keys, or makes them for an empty database; refuses a root key that is not the one that sealed it. */
export async function openKeyStore(database: Database, source: UnboundRootKeySource): Promise<OpenedKeyStore> {
  const check = await database.lookUp(findRootCheck);
  const { rootKey, warnings } = await loadRootKey({
    ...source,
    databaseHoldsData: check !== undefined,
    sealedById: check?.rootKeyId,
  });
  if (check === undefined) await sealDatabase(database, rootKey);
  else verifyRootCheck(rootKey, check);
  const systemKeys = openSystemKeys(rootKey, await database.lookUp(findSystemKeys));
  const keyring = createKeyring({
    rootKey,
    loadRows: (tenantId) => database.read(tenantId, findTenantKeys),
    entriesMax: TENANTS_UNWRAPPED_MAX,
  });
  const keyStore: KeyStore = {
    rootKeyId: rootKey.id,
    systemKeys,
    keyring,
    async createTenantKeys(tx, atMs) {
      const rows = generateTenantKeys(rootKey, tx.tenantId);
      await Promise.all(rows.map((row) => insertTenantKey(tx, row, atMs)));
    },
    destroyTenantKeys: deleteTenantKeys,
  };
  return { keyStore, warnings };
}

/** Looks without touching: which root key sealed the database, and whether the one given opens it. */
export async function examineKeys(
  database: Database,
  source: UnboundRootKeySource,
): Promise<{ readonly rootKeyId: string; readonly warnings: readonly string[] } | undefined> {
  const check = await database.lookUp(findRootCheck);
  if (check === undefined) return undefined;
  const { rootKey, warnings } = await loadRootKey({ ...source, databaseHoldsData: true, sealedById: check.rootKeyId });
  verifyRootCheck(rootKey, check);
  openSystemKeys(rootKey, await database.lookUp(findSystemKeys));
  return { rootKeyId: rootKey.id, warnings };
}

/** The check row and the system keys come into being together. Of two processes at once the first one counts. */
async function sealDatabase(database: Database, rootKey: RootKey): Promise<void> {
  const check = await database.system(async (tx) => {
    if (await insertRootCheck(tx, makeRootCheck(rootKey))) {
      for (const row of generateSystemKeys(rootKey)) await insertSystemKey(tx, row);
      return undefined;
    }
    return findRootCheck(tx);
  });
  if (check !== undefined) verifyRootCheck(rootKey, check);
}
