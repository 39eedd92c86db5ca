import { IntegrityError } from '../../../crypto/integrity-error.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import type { AppError } from '../../../kernel/errors.js';
import { storageUnavailable } from '../../../kernel/errors.js';
import type { ReactorStore, StoreOptions } from '../definition/store.js';
import type { RequestContent } from './content.js';
import { openRequest } from './content.js';
import type { RequestRow } from './queries.js';

/** Hands back the refusal of a row that was altered, after the operator was told of it. */
export type RequestOpener = (
  row: RequestRow,
) => Promise<{ readonly keys: TenantKeys; readonly content: RequestContent } | AppError>;

export function createRequestOpener(
  { onReactorAltered }: Pick<StoreOptions, 'onReactorAltered'>,
  store: ReactorStore,
): RequestOpener {
  return async (row) => {
    const keys = await store.keysFor(row.tenant_id, [row]);
    try {
      return { keys, content: openRequest(keys, row) };
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error;
      onReactorAltered({ tenantId: row.tenant_id, reactorId: row.reactor_id, requestId: row.id });
      return storageUnavailable(new Error('a stored request was changed outside the product'));
    }
  };
}
