import { isInvitationMacValid } from '../../access/row-macs.js';
import { FIRST_ID } from '../../kernel/ids.js';
import { defineTable } from '../../tables/table.js';
import { stepOf } from '../../tables/walk.js';
import type { StoredInvitation } from './queries.js';
import { listInvitationMacs } from './queries.js';
import { grantOf } from './stored/invitation.js';

const idOf = ({ id }: StoredInvitation): string => id;

export const INVITATION_TABLES = [
  defineTable({
    name: 'invitations',
    fate: 'with its tenant',
    macs: {
      async verify(tx, rowMacKey, position, limit) {
        const page = await listInvitationMacs(tx, position || FIRST_ID, limit);
        const isSound = (row: StoredInvitation) => isInvitationMacValid(rowMacKey, grantOf(tx.tenantId, row), row.mac);
        return stepOf(page, limit, idOf, page.filter((row) => !isSound(row)).map(idOf));
      },
    },
  }),
];
