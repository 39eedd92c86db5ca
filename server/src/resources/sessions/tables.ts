import { isSessionMacValid } from '../../access/row-macs.js';
import { FIRST_ID } from '../../kernel/ids.js';
import type { TenantTx } from '../../storage/scope.js';
import { defineTable } from '../../tables/table.js';
import { stepOf } from '../../tables/walk.js';
import type { StoredSession } from './queries.js';
import { listSessionMacs } from './queries.js';

const idOf = ({ id }: { readonly id: string }): string => id;

export const SESSION_TABLES = [
  defineTable({
    name: 'sessions',
    fate: 'with its tenant',
    refersTo: ['applications'],
    macs: {
      async verify(tx, rowMacKey, position, limit) {
        const page = await listSessionMacs(tx, position || FIRST_ID, limit);
        const isSound = (row: StoredSession) => isSessionMacValid(rowMacKey, sessionOf(tx, row), row.mac);
        return stepOf(page, limit, idOf, page.filter((row) => !isSound(row)).map(idOf));
      },
    },
  }),
];

function sessionOf(tx: TenantTx, row: StoredSession): Parameters<typeof isSessionMacValid>[1] {
  const { nonce_hash: nonceHash, created_by: createdBy, authorized_by: authorizedBy, expires_at: expiresAt } = row;
  const who = { nonceHash, createdBy, authorizedBy, authorizedKey: row.authorized_key };
  return { ...row, ...who, tenantId: tx.tenantId, expiresAt };
}
