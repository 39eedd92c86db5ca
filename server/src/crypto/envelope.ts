import type { KeyObject } from 'node:crypto';
import { assert } from '../kernel/assert.js';
import { openRecord, readRecordHeader, sealRecord } from './aead.js';
import { encodeAssociatedData, type RecordContext } from './associated-data.js';
import { withMessageKey } from './derive.js';
import { IntegrityError } from './integrity-error.js';
import type { TenantKeys } from './tenant-keys.js';
import { withWiped } from './wiped.js';

export interface FieldContext extends RecordContext {
  /** Counts the writes of this field: an older record put back in its place does not open. */
  readonly dataVersion: number;
}

/** Seals one field of one row under the tenant's current encryption key. */
export function sealField(tenantKeys: TenantKeys, context: FieldContext, plaintext: Buffer): Buffer {
  const keyVersion = tenantKeys.encryption.currentVersion;
  const associatedData = encodeAssociatedData(context);
  const { dataVersion } = context;
  return withMessageKey(parentKey(tenantKeys, keyVersion, context), context, (key) =>
    sealRecord(key, { keyVersion, dataVersion, plaintext, associatedData }),
  );
}

/**
 * Opens what sealField sealed for exactly this place; throws IntegrityError for anything else. The data version needs
 * no comparison of its own: it decides the key, and the record's copy of it is authenticated.
 */
export function openField(tenantKeys: TenantKeys, context: FieldContext, record: Buffer): Buffer {
  const { keyVersion } = readRecordHeader(record);
  return withMessageKey(parentKey(tenantKeys, keyVersion, context), context, (key) =>
    openRecord(key, record, encodeAssociatedData(context)),
  );
}

/** The same content under the tenant's current encryption key; what it says does not change, so neither does its version. */
export function resealField(tenantKeys: TenantKeys, context: FieldContext, record: Buffer): Buffer {
  return withWiped(openField(tenantKeys, context, record), (plaintext) => sealField(tenantKeys, context, plaintext));
}

function parentKey(tenantKeys: TenantKeys, keyVersion: number, context: FieldContext): KeyObject {
  // Sealed under another tenant's keys the data could never be read again, so the mix-up must not pass.
  assert(tenantKeys.tenantId === context.tenantId, 'a field is sealed with the keys of its own tenant');
  const tenantKey = tenantKeys.encryption.byVersion.get(keyVersion);
  if (tenantKey === undefined)
    throw new IntegrityError('A sealed record names a key version the tenant does not have.');
  return tenantKey;
}
