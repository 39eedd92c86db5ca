import type { KeyObject } from 'node:crypto';
import { isKeyMacValid, isRightsMacValid } from '../access/row-macs.js';
import type { TenantTx } from '../storage/scope.js';
import type { Step } from './stage.js';
import { listApiKeyMacs, listApplicationMacs } from './verify-queries.js';

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
      const faults = page.filter(
        ({ mac, expires_at: expiresAt, ...row }) =>
          !isRightsMacValid(rowMacKey, { ...row, tenantId: tx.tenantId, expiresAt }, mac),
      );
      return {
        next: page.length < limit ? undefined : page.at(-1)?.id,
        seen: page.length,
        faults: faults.map(({ id }) => id),
      };
    },
  },
  {
    name: 'api_keys',
    async verify(tx, rowMacKey, place, limit) {
      const page = await listApiKeyMacs(tx, place, limit);
      const faults = page.filter(
        ({ mac, expires_at: expiresAt, application_id: applicationId, ...row }) =>
          !isKeyMacValid(rowMacKey, { ...row, tenantId: tx.tenantId, applicationId, expiresAt }, mac),
      );
      return {
        next: page.length < limit ? undefined : page.at(-1)?.hash.toString('hex'),
        seen: page.length,
        faults: faults.map(({ id }) => id),
      };
    },
  },
];
