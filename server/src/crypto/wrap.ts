import { createSecretKey, type KeyObject } from 'node:crypto';
import { assert } from '../kernel/assert.js';
import { openRecord, sealRecord } from './aead.js';
import { encodeAssociatedData } from './associated-data.js';
import { type MessageKeyContext, withMessageKey } from './derive.js';
import type { RootKey } from './root-key.js';
import { withWiped } from './wiped.js';

// A root key has no versions: rotation replaces it by another, and the associated data names which one it is.
const ROOT_KEY_VERSION = 1;

/** The one place a wrapped key belongs to. */
export type WrapContext =
  | { readonly scope: 'tenant'; readonly tenantId: string; readonly name: string; readonly version: number }
  | { readonly scope: 'system'; readonly name: string; readonly version: number };

export function wrapKey(rootKey: RootKey, context: WrapContext, plainKey: Buffer): Buffer {
  assert(plainKey.length > 0, 'a key to wrap has bytes');
  return withMessageKey(rootKey.key, placeOf(context), (key) =>
    sealRecord(key, {
      keyVersion: ROOT_KEY_VERSION,
      dataVersion: context.version,
      plaintext: plainKey,
      associatedData: associatedDataOf(rootKey, context),
    }),
  );
}

/** Throws IntegrityError when it was wrapped under another root key, for another place, or was changed. */
export function unwrapKey(rootKey: RootKey, context: WrapContext, wrapped: Buffer): KeyObject {
  const bytes = withMessageKey(rootKey.key, placeOf(context), (key) =>
    openRecord(key, wrapped, associatedDataOf(rootKey, context)),
  );
  return withWiped(bytes, createSecretKey);
}

function placeOf(context: WrapContext): MessageKeyContext {
  const { name: field, version: dataVersion } = context;
  return { kind: kindOf(context), entityId: tenantIdOf(context), field, dataVersion };
}

function associatedDataOf(rootKey: RootKey, context: WrapContext): Buffer {
  return encodeAssociatedData({
    tenantId: tenantIdOf(context),
    kind: kindOf(context),
    entityId: rootKey.id,
    field: context.name,
  });
}

function kindOf(context: WrapContext): string {
  return `${context.scope}-key`;
}

function tenantIdOf(context: WrapContext): string {
  return context.scope === 'tenant' ? context.tenantId : '';
}
