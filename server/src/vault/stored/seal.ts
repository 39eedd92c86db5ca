import { openField, resealField, sealField } from '../../crypto/envelope.js';
import { IntegrityError } from '../../crypto/integrity-error.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { withWiped } from '../../crypto/wiped.js';
import type { TokenContent } from './content.js';
import { groupIdOf } from './names.js';
import type { TokenRow } from './row.js';

type RowKey = Pick<TokenRow, 'tenant_id' | 'id' | 'data_version'>;

function contextOf({ tenant_id: tenantId, id, data_version: dataVersion }: RowKey) {
  return { tenantId, kind: 'token', entityId: id, field: 'content', dataVersion };
}

export function sealContent(keys: TenantKeys, rowKey: RowKey, content: TokenContent): Buffer {
  return withWiped(Buffer.from(JSON.stringify(content)), (plaintext) => sealField(keys, contextOf(rowKey), plaintext));
}

/** The sealed record of a row anew, under the current key. */
export function resealContent(keys: TenantKeys, row: RowKey & Pick<TokenRow, 'sealed'>): Buffer {
  return resealField(keys, contextOf(row), row.sealed);
}

/**
 * Opens a row. Type and containers stand in the clear too, to be found by; what is sealed is the truth, and a row whose
 * group was edited to bring it under another rule does not open.
 */
export function openContent(
  keys: TenantKeys,
  row: RowKey & Pick<TokenRow, 'type' | 'group_id' | 'sealed'>,
): TokenContent {
  const content = withWiped(openField(keys, contextOf(row), row.sealed), (plaintext): TokenContent => {
    return JSON.parse(plaintext.toString('utf8')); // Authenticated: we wrote it ourselves.
  });
  if (content.type !== row.type || groupIdOf(content.type, content.containers) !== row.group_id) {
    throw new IntegrityError('A token row does not belong to what it holds.');
  }
  return content;
}
