import type { AuditContext } from '../../audit/entry.js';
import { IntegrityError } from '../../crypto/integrity-error.js';
import type { KeyStore } from '../../crypto/key-store.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { AppError, storageUnavailable } from '../../kernel/errors.js';
import { createKeyedLock } from '../../kernel/keyed-lock.js';
import type { LargeWork } from '../../kernel/large-work.js';
import { createLargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { FIND_MANY_TOKENS, FIND_TOKENS, findWholeTokens, LOCK_TOKENS } from '../queries.js';
import type { TokenContent } from '../stored/content.js';
import type { BareRow, FoundRow, TokenRow } from '../stored/row.js';
import { isLarge, sealedBytesOf } from '../stored/row.js';
import { openContent } from '../stored/seal.js';
import { takeRoom, takeRoomNow } from './room.js';
import { largeBytesOf, wholeRows } from './whole-rows.js';

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
  /** The row as it is now; undefined for one that is unknown, deleted or expired, all alike. */
  look(tenantId: string, id: string, nowMs: number): Promise<FoundRow | undefined>;
  /** The same for one of many: less of a record comes along. */
  lookBriefly(tenantId: string, id: string, nowMs: number): Promise<FoundRow | undefined>;
  /** The same opened. A large one waits for room, which the request has until its answer is out. */
  find(tenantId: string, id: string, auditContext: Pick<AuditContext, 'atMs' | 'holder'>): Promise<OpenRow | undefined>;
  /** Opens rows inside a change, in their order. Large ones take room, or it is 503: a change cannot wait for it. */
  openIn(tx: TenantTx, rows: readonly FoundRow[], auditContext: Pick<AuditContext, 'holder'>): Promise<OpenRow[]>;
  /**
   * Opens rows that are large, when it is their turn. What was left in the database is read as it is now; what is gone
   * or expired meanwhile is left out. The caller has the room, and keeps nothing but what `use` returns.
   */
  openPaced<T>(
    tenantId: string,
    rows: readonly FoundRow[],
    nowMs: number,
    use: (tokens: readonly OpenRow[]) => T,
  ): Promise<T>;
  /** The same inside a change: nobody else changes it until the transaction ends. */
  lock(tx: TenantTx, id: string, nowMs: number): Promise<OpenRow | undefined>;
}

/** What an opened token takes of memory, by the bytes of its record: many small values take this much and more. */
export const OPENED_TIMES = 16;

export function createOpener(options: {
  readonly database: Database;
  readonly keyring: KeyStore['keyring'];
  readonly onIntegrityFault: OnIntegrityFault;
  readonly largeWork?: LargeWork;
}): Opener {
  const { database, keyring, largeWork = createLargeWork() } = options;

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
    return all(rows, await openIntact(tenantId, rows));
  }

  function all(rows: readonly TokenRow[], tokens: OpenRow[]): OpenRow[] {
    if (tokens.length === rows.length) return tokens;
    throw storageUnavailable(new Error('a stored token was changed outside the product'));
  }

  const lookBy =
    (find: typeof FIND_TOKENS): Opener['look'] =>
    async (tenantId, id, nowMs) => {
      const key = { tenantId, id };
      const row = (await database.find(tenantId, find, key)).get(key);
      return row === undefined || isExpired(row, nowMs) ? undefined : row;
    };
  const look = lookBy(FIND_TOKENS);

  /** In the order of the rows that were asked for. */
  async function readWhole(tenantId: string, rows: readonly FoundRow[], nowMs: number): Promise<TokenRow[]> {
    const ids = rows.filter(isLarge).map(({ id }) => id);
    // By key, past the gate of pages: whoever waits there with the turn would hold up large work of other tenants.
    const read = ids.length === 0 ? [] : await database.read(tenantId, (tx) => findWholeTokens(tx, ids));
    const whole = new Map(read.map((row) => [row.id, row]));
    const found = rows.map((row) => (isLarge(row) ? whole.get(row.id) : row)).filter((row) => row !== undefined);
    return found.filter((row) => !isExpired(row, nowMs));
  }

  const inTurn = createKeyedLock();

  /**
   * A tenant reads one piece at a time: taking a large record off the wire costs as much as opening it, and what is read
   * ahead is memory. Among tenants only the opening waits for its turn: what one waits for at the database is its own
   * affair.
   */
  const openPaced: Opener['openPaced'] = (tenantId, rows, nowMs, use) =>
    inTurn(tenantId, async () => {
      const whole = await readWhole(tenantId, rows, nowMs);
      const records = whole.map(({ sealed }) => sealed);
      const keys = await orGone(keyring.forRecords(tenantId, records));
      return largeWork.paced.run(tenantId, () => {
        const opened = whole.map((row) => tryOpen(keys, row)).filter((token) => token !== undefined);
        return use(all(whole, opened));
      });
    });

  async function openLive(row: TokenRow | undefined, nowMs: number): Promise<OpenRow | undefined> {
    if (row === undefined || isExpired(row, nowMs)) return undefined;
    const [token] = await open(row.tenant_id, [row]);
    return token;
  }

  return {
    keysOf: (tenantId) => orGone(keyring.forTenant(tenantId)),
    open,
    openIntact,
    look,
    lookBriefly: lookBy(FIND_MANY_TOKENS),
    openPaced,
    async find(tenantId, id, auditContext) {
      const row = await look(tenantId, id, auditContext.atMs);
      if (row === undefined || !isLarge(row)) return openLive(row, auditContext.atMs);
      await takeRoom(largeWork, tenantId, auditContext, sealedBytesOf(row) * OPENED_TIMES);
      return openPaced(tenantId, [row], auditContext.atMs, ([token]) => token);
    },
    async openIn(tx, rows, auditContext) {
      const bytes = largeBytesOf(rows);
      if (bytes > 0) takeRoomNow(largeWork, tx.tenantId, auditContext, bytes * OPENED_TIMES);
      return open(tx.tenantId, bytes === 0 ? rows.filter((row) => !isLarge(row)) : await wholeRows(tx, rows));
    },
    async lock(tx, id, nowMs) {
      const key = { tenantId: tx.tenantId, id };
      const row = (await tx.gather(LOCK_TOKENS, [key])).get(key);
      if (row === undefined || !isLarge(row)) return openLive(row, nowMs);
      const [whole] = await wholeRows(tx, [row]);
      return openLive(whole, nowMs);
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

export function isExpired({ expires_at: expiresAt }: BareRow, nowMs: number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= nowMs;
}

/** The same words whether it never was, is another tenant's, was deleted or has expired. */
export function known<T>(token: T | undefined): T {
  if (token) return token;
  throw new AppError('not_found', 'There is no such token. Check the id, or list the tokens.');
}

export function accessDenied(): AppError {
  return new AppError(
    'access_denied',
    'No access rule of this Application grants the operation on this token. Ask for a rule on its container.',
  );
}
