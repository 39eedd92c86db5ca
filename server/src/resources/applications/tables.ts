import { isKeyMacValid, isRightsMacValid } from '../../access/row-macs.js';
import { FIRST_ID } from '../../kernel/ids.js';
import { defineTable } from '../../tables/table.js';
import { stepOf } from '../../tables/walk.js';
import { listApiKeyMacs } from './keys/queries.js';
import { listApplicationMacs } from './queries.js';

const idOf = ({ id }: { readonly id: string }): string => id;

export const APPLICATION_TABLES = [
  defineTable({
    name: 'applications',
    fate: 'with its tenant',
    macs: {
      async verify(tx, rowMacKey, position, limit) {
        const page = await listApplicationMacs(tx, position || FIRST_ID, limit);
        const { tenantId } = tx;
        const isSound = ({ mac, expires_at: expiresAt, ...row }: (typeof page)[number]) =>
          isRightsMacValid(rowMacKey, { ...row, tenantId, expiresAt }, mac);
        return stepOf(page, limit, idOf, page.filter((row) => !isSound(row)).map(idOf));
      },
    },
  }),
  defineTable({
    name: 'api_keys',
    fate: 'with its tenant',
    refersTo: ['applications'],
    macs: {
      async verify(tx, rowMacKey, position, limit) {
        const page = await listApiKeyMacs(tx, position, limit);
        const { tenantId } = tx;
        const isSound = ({
          mac,
          expires_at: expiresAt,
          application_id: applicationId,
          ...row
        }: (typeof page)[number]) => isKeyMacValid(rowMacKey, { ...row, tenantId, applicationId, expiresAt }, mac);
        const faults = page.filter((row) => !isSound(row)).map(idOf);
        return stepOf(page, limit, ({ hash }) => hash.toString('hex'), faults);
      },
    },
  }),
];
