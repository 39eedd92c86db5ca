import type { AuditContext } from '../../audit/entry.js';
import type { KeyStore } from '../../crypto/key-store.js';
import { AppError } from '../../kernel/errors.js';
import type { LargeWork } from '../../kernel/large-work.js';
import { createLargeWork } from '../../kernel/large-work.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { FIND_MANY_TOKENS, FIND_TOKENS, LOCK_TOKENS } from '../queries.js';
import type { FoundRow } from '../stored/row.js';
import { isExpired, isLarge, sealedBytesOf } from '../stored/row.js';
import type { OpenPaced } from './open-paced.js';
import { createOpenPaced } from './open-paced.js';
import type { OnIntegrityFault, OpenRow, RowOpener } from './open-rows.js';
import { createRowOpener } from './open-rows.js';
import { takeRoom, takeRoomNow } from './room.js';
import { largeBytesOf, wholeRows } from './whole-rows.js';

export interface Opener extends Pick<RowOpener, 'keysOf' | 'open' | 'openIntact'> {
  /** The row as it is now; undefined for one that is unknown, deleted or expired, all alike. */
  look(tenantId: string, id: string, nowMs: number): Promise<FoundRow | undefined>;
  /** The same for one of many: less of a record comes along. */
  lookBriefly(tenantId: string, id: string, nowMs: number): Promise<FoundRow | undefined>;
  /** The same opened. A large one waits for room, which the request has until its answer is out. */
  find(tenantId: string, id: string, auditContext: Pick<AuditContext, 'atMs' | 'holder'>): Promise<OpenRow | undefined>;
  /** Opens rows inside a change, in their order. Large ones take room, or it is 503: a change cannot wait for it. */
  openIn(tx: TenantTx, rows: readonly FoundRow[], auditContext: Pick<AuditContext, 'holder'>): Promise<OpenRow[]>;
  readonly openPaced: OpenPaced;
  /** The row inside a change, opened: nobody else changes it until the transaction ends. */
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
  const { database, largeWork = createLargeWork() } = options;
  const rowOpener = createRowOpener(options.keyring, options.onIntegrityFault);
  const { open } = rowOpener;
  const openPaced = createOpenPaced(database, largeWork, rowOpener);
  const look = lookBy(database, FIND_TOKENS);

  return {
    keysOf: rowOpener.keysOf,
    open,
    openIntact: rowOpener.openIntact,
    look,
    lookBriefly: lookBy(database, FIND_MANY_TOKENS),
    openPaced,
    async find(tenantId, id, auditContext) {
      const row = await look(tenantId, id, auditContext.atMs);
      if (row === undefined) return undefined;
      if (!isLarge(row)) return (await open(tenantId, [row]))[0];
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
      const found = (await tx.gather(LOCK_TOKENS, [key])).get(key);
      const row = found && isLarge(found) ? (await wholeRows(tx, [found]))[0] : found;
      return row === undefined || isExpired(row, nowMs) ? undefined : (await open(tx.tenantId, [row]))[0];
    },
  };
}

function lookBy(database: Database, find: typeof FIND_TOKENS): Opener['look'] {
  return async (tenantId, id, nowMs) => {
    const key = { tenantId, id };
    const row = (await database.find(tenantId, find, key)).get(key);
    return row === undefined || isExpired(row, nowMs) ? undefined : row;
  };
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
