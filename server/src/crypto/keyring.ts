import { assert } from '../kernel/assert.js';
import { storageUnavailable } from '../kernel/errors.js';
import { IntegrityError } from './integrity-error.js';
import type { RootKey } from './root-key.js';
import { openTenantKeys, type TenantKeyRow, type TenantKeys } from './tenant-keys.js';

export interface KeyringOptions {
  readonly rootKey: RootKey;
  readonly loadRows: (tenantId: string) => Promise<readonly TenantKeyRow[]>;
  readonly entriesMax: number;
}

export interface Keyring {
  /**
   * The tenant's unwrapped keys. Throws IntegrityError when the tenant has no keys (it was deleted), and the 503 of an
   * unusable store when its keys do not open. A failure is not remembered.
   */
  forTenant(tenantId: string): Promise<TenantKeys>;
  /** Must be called after the tenant's key rows changed: whoever asks from now on gets what is stored now. */
  evict(tenantId: string): void;
  clear(): void;
}

/** Keeps the keys of the tenants that were used last. The bound holds memory, and how many keys lie open at once. */
export function createKeyring({ rootKey, loadRows, entriesMax }: KeyringOptions): Keyring {
  assert(Number.isInteger(entriesMax) && entriesMax > 0, 'a keyring has room for one tenant at least');
  // A Map remembers the order of insertion, so its first entry is the one unused for longest.
  const cached = new Map<string, TenantKeys>();
  const loading = new Map<string, Promise<TenantKeys>>();

  async function loadKeys(tenantId: string): Promise<TenantKeys> {
    const rows = await loadRows(tenantId);
    if (rows.length === 0) throw new IntegrityError('A tenant has no keys.');
    try {
      return openTenantKeys(rootKey, tenantId, rows);
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
      if (isCurrent()) remember(tenantId, keys);
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

  return {
    async forTenant(tenantId) {
      const keys = cached.get(tenantId);
      if (keys === undefined) return join(tenantId, loading.get(tenantId) ?? startLoad(tenantId));
      remember(tenantId, keys);
      return keys;
    },
    evict(tenantId) {
      cached.delete(tenantId);
      loading.delete(tenantId);
    },
    clear() {
      cached.clear();
      loading.clear();
    },
  };
}
