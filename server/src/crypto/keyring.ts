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

/**
 * Keeps the keys of the tenants that were used last. The bound limits memory, and how many unwrapped keys exist at a
 * time.
 */
export class Keyring {
  readonly #custody: KeyringOptions['custody'];
  readonly #loadRows: KeyringOptions['loadRows'];
  readonly #entriesMax: number;
  // A Map remembers the order of insertion, so its first entry is the one unused for longest.
  readonly #cached = new Map<string, TenantKeys>();
  readonly #loading = new Map<string, Promise<TenantKeys>>();
  #isTrusted = (): boolean => true;

  constructor({ custody, loadRows, entriesMax }: KeyringOptions) {
    assert(Number.isInteger(entriesMax) && entriesMax > 0, 'a keyring has room for one tenant at least');
    this.#custody = custody;
    this.#loadRows = loadRows;
    this.#entriesMax = entriesMax;
  }

  /**
   * The tenant's unwrapped keys, at once when they are remembered. Fails with IntegrityError when the tenant has no keys
   * (it was deleted), and with the 503 of an unusable store when its keys do not open. A failure is not remembered.
   */
  forTenant(tenantId: string): TenantKeys | Promise<TenantKeys> {
    const keys = this.#cached.get(tenantId);
    if (keys === undefined || !this.#isTrusted()) {
      return this.#join(tenantId, this.#loading.get(tenantId) ?? this.#startLoad(tenantId));
    }
    // Moving an entry to the recent end takes time, so it is done only once the keyring could overflow.
    if (this.#cached.size * 2 > this.#entriesMax) this.#remember(tenantId, keys);
    return keys;
  }

  /**
   * The keys to open these records with. A record that names a version which is not remembered was sealed after a
   * rotation this process has not heard of yet: the keys are then read once more.
   */
  forRecords(tenantId: string, records: readonly Buffer[]): TenantKeys | Promise<TenantKeys> {
    const keys = this.forTenant(tenantId);
    return keys instanceof Promise
      ? keys.then((loaded) => this.#orReload(tenantId, loaded, records))
      : this.#orReload(tenantId, keys, records);
  }

  /** Must be called after the tenant's key rows changed: later callers get what is stored now. */
  evict(tenantId: string): void {
    this.#cached.delete(tenantId);
    this.#loading.delete(tenantId);
  }

  clear(): void {
    this.#cached.clear();
    this.#loading.clear();
  }

  /**
   * From now on keys are remembered only while `isTrusted` is true. An old key used after a missed notice of its
   * rotation would seal records that nobody can open later.
   */
  rememberOnlyWhile(isTrusted: () => boolean): void {
    this.#isTrusted = isTrusted;
  }

  #orReload(tenantId: string, keys: TenantKeys, records: readonly Buffer[]): TenantKeys | Promise<TenantKeys> {
    return holdsAll(keys, records) ? keys : this.#join(tenantId, this.#startLoad(tenantId));
  }

  #startLoad(tenantId: string): Promise<TenantKeys> {
    const load = this.#loadKeys(tenantId);
    this.#loading.set(tenantId, load);
    return load;
  }

  async #join(tenantId: string, load: Promise<TenantKeys>): Promise<TenantKeys> {
    // Evicted or overtaken meanwhile: what was read may be old, so it serves its callers and is not kept.
    const isCurrent = () => this.#loading.get(tenantId) === load;
    try {
      const keys = await load;
      if (isCurrent() && this.#isTrusted()) this.#remember(tenantId, keys);
      return keys;
    } finally {
      if (isCurrent()) this.#loading.delete(tenantId);
    }
  }

  #remember(tenantId: string, keys: TenantKeys): void {
    this.#cached.delete(tenantId);
    this.#cached.set(tenantId, keys);
    if (this.#cached.size <= this.#entriesMax) return;
    const [unusedLongest] = this.#cached.keys();
    if (unusedLongest !== undefined) this.#cached.delete(unusedLongest);
  }

  async #loadKeys(tenantId: string): Promise<TenantKeys> {
    const rows = await this.#loadRows(tenantId);
    if (rows.length === 0) throw new IntegrityError('A tenant has no keys.');
    const ring = this.#custody.ring();
    try {
      return openTenantKeys(ring, tenantId, rows);
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      // Perhaps rewrapped meanwhile by a root key that is in the key file and not yet in this process.
      const fresh = await this.#custody.reload();
      if (fresh === ring) throw storageUnavailable(error);
      return openReloaded(fresh, tenantId, rows);
    }
  }
}

function openReloaded(ring: ReturnType<Custody['ring']>, tenantId: string, rows: readonly TenantKeyRow[]): TenantKeys {
  try {
    return openTenantKeys(ring, tenantId, rows);
  } catch (error) {
    throw error instanceof IntegrityError ? storageUnavailable(error) : error;
  }
}

function holdsAll({ encryption }: TenantKeys, records: readonly Buffer[]): boolean {
  return records.every((record) => {
    const version = keyVersionOf(record);
    return version === undefined || encryption.byVersion.has(version);
  });
}
