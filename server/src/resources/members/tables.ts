import { isMemberMacValid } from '../../access/row-macs.js';
import { FIRST_ID } from '../../kernel/ids.js';
import { defineTable } from '../../tables/table.js';
import { stepOf } from '../../tables/walk.js';
import type { StoredMember } from './queries.js';
import { listMemberMacs } from './queries.js';
import { memberIdentityOf } from './stored/member.js';

const idOf = ({ id }: StoredMember): string => id;

export const MEMBER_TABLES = [
  defineTable({
    name: 'members',
    fate: 'with its tenant',
    macs: {
      async verify(tx, rowMacKey, position, limit) {
        const page = await listMemberMacs(tx, position || FIRST_ID, limit);
        const isSound = (row: StoredMember) => isMemberMacValid(rowMacKey, memberIdentityOf(tx.tenantId, row), row.mac);
        return stepOf(page, limit, idOf, page.filter((row) => !isSound(row)).map(idOf));
      },
    },
  }),
  defineTable({ name: 'portal_visits', fate: 'with its tenant' }),
];
