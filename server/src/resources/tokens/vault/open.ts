import { IntegrityError } from '../../../crypto/integrity-error.js';
import type { KeyStore } from '../../../crypto/key-store.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import { AppError, storageUnavailable } from '../../../kernel/errors.js';
import type { Database } from '../../../storage/database.js';
import type { TenantTx } from '../../../storage/scope.js';
import { FIND_TOKENS, LOCK_TOKENS } from '../queries.js';
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

export interface Opener {
  keysOf(tenantId: string): TenantKeys | Promise<TenantKeys>;
  open(tenantId: string, rows: readonly TokenRow[]): Promise<OpenRow[]>;
  /** The same for work that must go on past a damaged row, after the operator was told of it. */
  openIntact(tenantId: string, rows: readonly TokenRow[]): Promise<OpenRow[]>;
  /** The token as it is now; undefined for one that is unknown, deleted or expired, all alike. */
  find(tenantId: string, id: string, nowMs: number): Promise<OpenRow | undefined>;
  /** The same inside a change: nobody else changes it until the transaction ends. */
  lock(tx: TenantTx, id: string, nowMs: number): Promise<OpenRow | undefined>;
}

export function createOpener(options: {
  readonly database: Database;
  readonly keyring: KeyStore['keyring'];
  readonly onIntegrityFault: OnIntegrityFault;
}): Opener {
  const { database, keyring } = options;

  function tryOpen(keys: TenantKeys, row: TokenRow): OpenRow | undefined {
    try {
      return { row, content: openContent(keys, row) };
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      options.onIntegrityFault({ tenantId: row.tenant_id, tokenId: row.id });
      return undefined;
    }
  }

  async function openIntact(tenantId: string, rows: readonly TokenRow[]): Promise<OpenRow[]> {
    if (rows.length === 0) return [];
    const records = rows.map(({ sealed }) => sealed);
    const keys = await orGone(keyring.forRecords(tenantId, records));
    return rows.map((row) => tryOpen(keys, row)).filter((token) => token !== undefined);
  }

  async function open(tenantId: string, rows: readonly TokenRow[]): Promise<OpenRow[]> {
    const tokens = await openIntact(tenantId, rows);
    if (tokens.length === rows.length) return tokens;
    throw storageUnavailable(new Error('a stored token was changed outside the product'));
  }

  async function openLive(row: TokenRow | undefined, nowMs: number): Promise<OpenRow | undefined> {
    if (row === undefined || isExpired(row, nowMs)) return undefined;
    const [token] = await open(row.tenant_id, [row]);
    return token;
  }

  return {
    keysOf: (tenantId) => orGone(keyring.forTenant(tenantId)),
    open,
    openIntact,
    async find(tenantId, id, nowMs) {
      const key = { tenantId, id };
      return openLive((await database.find(tenantId, FIND_TOKENS, key)).get(key), nowMs);
    },
    async lock(tx, id, nowMs) {
      const key = { tenantId: tx.tenantId, id };
      return openLive((await tx.gather(LOCK_TOKENS, [key])).get(key), nowMs);
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

export function isExpired({ expires_at: expiresAt }: TokenRow, nowMs: number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= nowMs;
}

/** The same words whether it never was, is another tenant's, was deleted or has expired. */
export function known(token: OpenRow | undefined): OpenRow {
  if (token) return token;
  throw new AppError('not_found', 'There is no such token. Check the id, or list the tokens.');
}

export function accessDenied(): AppError {
  return new AppError(
    'access_denied',
    'No access rule of this Application grants the operation on this token. Ask for a rule on its container.',
  );
}
