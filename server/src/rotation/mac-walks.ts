import type { KeyObject } from 'node:crypto';
import { isKeyMacValid, isRightsMacValid, isSessionMacValid } from '../access/row-macs.js';
import type { TenantTx } from '../storage/scope.js';
import type { Step } from './stage.js';
import type { SessionMacRow } from './verify-queries.js';
import { listApiKeyMacs, listApplicationMacs, listSessionMacs } from './verify-queries.js';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export interface MacWalk {
  readonly name: string;
  readonly verify: (tx: TenantTx, rowMacKey: KeyObject, place: string, limit: number) => Promise<Step>;
}

/** Rows that grant rights, each with a keyed hash over what it grants. */
export const MAC_WALKS: readonly MacWalk[] = [
  {
    name: 'applications',
    async verify(tx, rowMacKey, place, limit) {
      const page = await listApplicationMacs(tx, place || FIRST_ID, limit);
      const isSound = ({ mac, expires_at: expiresAt, ...row }: (typeof page)[number]) =>
        isRightsMacValid(rowMacKey, { ...row, tenantId: tx.tenantId, expiresAt }, mac);
      return stepOf(page, limit, ({ id }) => id, isSound);
    },
  },
  {
    name: 'api_keys',
    async verify(tx, rowMacKey, place, limit) {
      const page = await listApiKeyMacs(tx, place, limit);
      const isSound = ({ mac, expires_at: expiresAt, application_id: applicationId, ...row }: (typeof page)[number]) =>
        isKeyMacValid(rowMacKey, { ...row, tenantId: tx.tenantId, applicationId, expiresAt }, mac);
      return stepOf(page, limit, ({ hash }) => hash.toString('hex'), isSound);
    },
  },
  {
    name: 'sessions',
    async verify(tx, rowMacKey, place, limit) {
      const page = await listSessionMacs(tx, place || FIRST_ID, limit);
      const isSound = (row: (typeof page)[number]) => isSessionMacValid(rowMacKey, sessionOf(tx, row), row.mac);
      return stepOf(page, limit, ({ id }) => id, isSound);
    },
  },
];

function sessionOf(tx: TenantTx, row: SessionMacRow): Parameters<typeof isSessionMacValid>[1] {
  const { nonce_hash: nonceHash, created_by: createdBy, authorized_by: authorizedBy, expires_at: expiresAt } = row;
  const who = { nonceHash, createdBy, authorizedBy, authorizedKey: row.authorized_key };
  return { ...row, ...who, tenantId: tx.tenantId, expiresAt };
}

function stepOf<Row extends { readonly id: string }>(
  page: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
  isSound: (row: Row) => boolean,
): Step {
  const last = page.at(-1);
  return {
    next: last === undefined || page.length < limit ? undefined : placeOf(last),
    seen: page.length,
    faults: page.filter((row) => !isSound(row)).map(({ id }) => id),
  };
}
