import { assert } from '../kernel/assert.js';
import { storageUnavailable } from '../kernel/errors.js';
import { keyVersionOf } from './aead.js';
import type { Custody } from './custody.js';
import { IntegrityError } from './integrity-error.js';
import { openTenantKeys, type TenantKeyRow, type TenantKeys } from './tenant-keys.js';

export interface KeyringOptions {
  readonly custody: Pick<Custody, 'ring' | 'reload'>;
  readonly loadRows: (tenantId: string) => Promise<readonly TenantKeyRow[]>;
  readonly entriesMax: number;
}

export interface Keyring {
  /**
   * The tenant's unwrapped keys, at once when they are remembered. Fails with IntegrityError when the tenant has no keys
   * (it was deleted), and with the 503 of an unusable store when its keys do not open. A failure is not remembered.
   */
  forTenant(tenantId: string): TenantKeys | Promise<TenantKeys>;
  /**
   * The keys to open these records with. A record that names a version which is not remembered was sealed after a
   * rotation this process has not heard of yet: the keys are then read once more.
   */
  forRecords(tenantId: string, records: readonly Buffer[]): TenantKeys | Promise<TenantKeys>;
  /** Must be called after the tenant's key rows changed: whoever asks from now on gets what is stored now. */
  evict(tenantId: string): void;
  clear(): void;
  /**
   * From now on keys are remembered only while this is so. Keys that outlive the news of their rotation would seal what
   * nobody can open later.
   */
  rememberOnlyWhile(isTrusted: () => boolean): void;
}

/** Keeps the keys of the tenants that were used last. The bound holds memory, and how many keys lie open at once. */
export function createKeyring({ custody, loadRows, entriesMax }: KeyringOptions): Keyring {
  assert(Number.isInteger(entriesMax) && entriesMax > 0, 'a keyring has room for one tenant at least');
  // A Map remembers the order of insertion, so its first entry is the one unused for longest.
  const cached = new Map<string, TenantKeys>();
  const loading = new Map<string, Promise<TenantKeys>>();
  let isTrusted = () => true;

  async function loadKeys(tenantId: string): Promise<TenantKeys> {
    const rows = await loadRows(tenantId);
    if (rows.length === 0) throw new IntegrityError('A tenant has no keys.');
    const ring = custody.ring();
    try {
      return openTenantKeys(ring, tenantId, rows);
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      // Wrapped anew meanwhile, it may be, by a root key that is in the key file and not yet in this process.
      const fresh = await custody.reload();
      if (fresh === ring) throw storageUnavailable(error);
      return openReloaded(fresh, tenantId, rows);
    }
  }

  function openReloaded(ring: ReturnType<Custody['ring']>, tenantId: string, rows: readonly TenantKeyRow[]) {
    try {
      return openTenantKeys(ring, tenantId, rows);
    } catch (error) {
      throw error instanceof IntegrityError ? storageUnavailable(error) : error;
    }
  }

  function startLoad(tenantId: string): Promise<TenantKeys> {
    const load = loadKeys(tenantId);
    loading.set(tenantId, load);
    return load;
  }

  async function join(tenantId: string, load: Promise<TenantKeys>): Promise<TenantKeys> {
    // Evicted or overtaken meanwhile: what was read may be old, so it serves its callers and is not kept.
    const isCurrent = () => loading.get(tenantId) === load;
    try {
      const keys = await load;
      if (isCurrent() && isTrusted()) remember(tenantId, keys);
      return keys;
    } finally {
      if (isCurrent()) loading.delete(tenantId);
    }
  }

  function remember(tenantId: string, keys: TenantKeys): void {
    cached.delete(tenantId);
    cached.set(tenantId, keys);
    if (cached.size <= entriesMax) return;
    const [unusedLongest] = cached.keys();
    if (unusedLongest !== undefined) cached.delete(unusedLongest);
  }

  function forTenant(tenantId: string): TenantKeys | Promise<TenantKeys> {
    const keys = cached.get(tenantId);
    if (keys === undefined || !isTrusted()) return join(tenantId, loading.get(tenantId) ?? startLoad(tenantId));
    // Moving an entry to the young end costs, so it is done only once the keyring could overflow.
    if (cached.size * 2 > entriesMax) remember(tenantId, keys);
    return keys;
  }

  return {
    forTenant,
    forRecords(tenantId, records) {
      const orReload = (keys: TenantKeys) => (holdsAll(keys, records) ? keys : join(tenantId, startLoad(tenantId)));
      const keys = forTenant(tenantId);
      return keys instanceof Promise ? keys.then(orReload) : orReload(keys);
    },
    evict(tenantId) {
      cached.delete(tenantId);
      loading.delete(tenantId);
    },
    clear() {
      cached.clear();
      loading.clear();
    },
    rememberOnlyWhile(isSo) {
      isTrusted = isSo;
    },
  };
}

function holdsAll({ encryption }: TenantKeys, records: readonly Buffer[]): boolean {
  return records.every((record) => {
    const version = keyVersionOf(record);
    return version === undefined || encryption.byVersion.has(version);
  });
}
