import { openField, resealField, sealField } from '../../../crypto/envelope.js';
import { IntegrityError } from '../../../crypto/integrity-error.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import { withWiped } from '../../../crypto/wiped.js';
import type { Json } from '../../../kernel/json.js';
import type { RequestRow } from './queries.js';
import type { StoredResult } from './result.js';

/** What is sealed of a request. */
export interface RequestContent {
  /** With expressions, as they were sent. Undefined once they are not needed any more. */
  readonly args?: Json | undefined;
  readonly callbackUrl?: string | undefined;
  readonly result?: StoredResult | undefined;
}

/** How it is written into a record. It lasts as long as a request: another form is another number. */
interface StoredRequest {
  readonly format: 1;
  readonly reactor_id: string;
  readonly actor_type: string;
  readonly actor_id: string;
  readonly args?: Json | undefined;
  readonly callback_url?: string | undefined;
  readonly result?: StoredResult | undefined;
}

/** In whose name it runs is sealed too: whoever can write rows cannot lend a request the rights of somebody else. */
export type RequestPlace = Pick<RequestRow, 'tenant_id' | 'id' | 'reactor_id' | 'actor_type' | 'actor_id' | 'version'>;

export function sealRequest(keys: TenantKeys, place: RequestPlace, content: RequestContent): Buffer {
  const { reactor_id, actor_type, actor_id } = place;
  const { args, callbackUrl, result } = content;
  const stored: StoredRequest = {
    format: 1,
    reactor_id,
    actor_type,
    actor_id,
    args,
    callback_url: callbackUrl,
    result,
  };
  return withWiped(Buffer.from(JSON.stringify(stored)), (bytes) => sealField(keys, contextOfRequest(place), bytes));
}

/** What stands in the row has to be what is sealed; IntegrityError otherwise. */
export function openRequest(keys: TenantKeys, row: RequestRow): RequestContent {
  const stored = withWiped(openField(keys, contextOfRequest(row), row.sealed), decoded);
  const { reactor_id, actor_type, actor_id, args, callback_url: callbackUrl, result } = stored;
  if (reactor_id !== row.reactor_id || actor_type !== row.actor_type || actor_id !== row.actor_id) {
    throw new IntegrityError('The columns of a request are not what is sealed.');
  }
  return { args, callbackUrl, result };
}

export function resealRequest(keys: TenantKeys, row: RequestRow): Buffer {
  openRequest(keys, row);
  return resealField(keys, contextOfRequest(row), row.sealed);
}

function contextOfRequest({ tenant_id: tenantId, id, version }: RequestPlace) {
  return { tenantId, kind: 'reactor-request', entityId: id, field: 'request', dataVersion: version };
}

function decoded(bytes: Buffer): StoredRequest {
  const stored = JSON.parse(bytes.toString()) as StoredRequest; // It was sealed here, so it has one of the forms there are.
  if (stored.format !== 1) throw new Error('a request was written by a newer release');
  return stored;
}
