import { IntegrityError } from '../../crypto/integrity-error.js';
import type { KeyStore } from '../../crypto/key-store.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { AppError, storageUnavailable } from '../../kernel/errors.js';
import type { TokenContent } from '../stored/content.js';
import type { TokenRow } from '../stored/row.js';
import { openContent } from '../stored/seal.js';

/** A stored token with what it says. */
export interface OpenRow {
  readonly row: TokenRow;
  readonly content: TokenContent;
}

/** Tells the operator of a row that was changed behind the product's back. */
export type OnIntegrityFault = (story: { readonly tenantId: string; readonly tokenId: string }) => void;

/** Opens rows whose records are here. */
export interface RowOpener {
  keysOf(tenantId: string): TenantKeys | Promise<TenantKeys>;
  /** The keys that open these rows. */
  keysFor(tenantId: string, rows: readonly TokenRow[]): TenantKeys | Promise<TenantKeys>;
  /** Opens rows by their keys. 503 for a damaged one, after the operator was told of it. */
  openBy(keys: TenantKeys, rows: readonly TokenRow[]): OpenRow[];
  /** At once where the keys are known. */
  open(tenantId: string, rows: readonly TokenRow[]): OpenRow[] | Promise<OpenRow[]>;
  /** The same for work that must go on past a damaged row. */
  openIntact(tenantId: string, rows: readonly TokenRow[]): Promise<OpenRow[]>;
}

export function createRowOpener(keyring: KeyStore['keyring'], onIntegrityFault: OnIntegrityFault): RowOpener {
  function tryOpen(keys: TenantKeys, row: TokenRow): OpenRow | undefined {
    try {
      return { row, content: openContent(keys, row) };
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      onIntegrityFault({ tenantId: row.tenant_id, tokenId: row.id });
      return undefined;
    }
  }

  function intactBy(keys: TenantKeys, rows: readonly TokenRow[]): OpenRow[] {
    return rows.map((row) => tryOpen(keys, row)).filter((token) => token !== undefined);
  }

  function openBy(keys: TenantKeys, rows: readonly TokenRow[]): OpenRow[] {
    const tokens = intactBy(keys, rows);
    if (tokens.length === rows.length) return tokens;
    throw storageUnavailable(new Error('a stored token was changed outside the product'));
  }

  function keysFor(tenantId: string, rows: readonly TokenRow[]): TenantKeys | Promise<TenantKeys> {
    const records = rows.map(({ sealed }) => sealed);
    return orGone(keyring.forRecords(tenantId, records));
  }

  return {
    keysOf: (tenantId) => orGone(keyring.forTenant(tenantId)),
    keysFor,
    openBy,
    open(tenantId, rows) {
      if (rows.length === 0) return [];
      const keys = keysFor(tenantId, rows);
      return keys instanceof Promise ? keys.then((known) => openBy(known, rows)) : openBy(keys, rows);
    },
    async openIntact(tenantId, rows) {
      return rows.length === 0 ? [] : intactBy(await keysFor(tenantId, rows), rows);
    },
  };
}

/** Its keys are the first thing a deleted tenant loses, and with them its credentials. */
function orGone(keys: TenantKeys | Promise<TenantKeys>): TenantKeys | Promise<TenantKeys> {
  if (!(keys instanceof Promise)) return keys;
  return keys.catch((error: unknown) => {
    if (!(error instanceof IntegrityError)) throw error;
    throw new AppError('invalid_api_key', 'The API key is not valid. Check it, or ask for a new one.');
  });
}
