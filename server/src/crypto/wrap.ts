import { createSecretKey, type KeyObject } from 'node:crypto';
import { assert } from '../kernel/assert.js';
import { openRecord, sealRecord } from './aead.js';
import { encodeAssociatedData } from './associated-data.js';
import { deriveMessageKey } from './derive.js';
import type { RootKey } from './root-key.js';

// A root key has no versions: rotation replaces it by another, and the associated data names which one it is.
const ROOT_KEY_VERSION = 1;

/** The one place a wrapped key belongs to. */
export type WrapContext =
  | { readonly scope: 'tenant'; readonly tenantId: string; readonly name: string; readonly version: number }
  | { readonly scope: 'system'; readonly name: string; readonly version: number };

export function wrapKey(rootKey: RootKey, context: WrapContext, plainKey: Buffer): Buffer {
  assert(plainKey.length > 0, 'a key to wrap has bytes');
  return sealRecord(wrappingKey(rootKey, context), {
    keyVersion: ROOT_KEY_VERSION,
    dataVersion: context.version,
    plaintext: plainKey,
    associatedData: associatedDataOf(rootKey, context),
  });
}

/** Throws IntegrityError when it was wrapped under another root key, for another place, or was changed. */
export function unwrapKey(rootKey: RootKey, context: WrapContext, wrapped: Buffer): KeyObject {
  const bytes = openRecord(wrappingKey(rootKey, context), wrapped, associatedDataOf(rootKey, context));
  try {
    return createSecretKey(bytes);
  } finally {
    bytes.fill(0);
  }
}

function wrappingKey(rootKey: RootKey, context: WrapContext): Buffer {
  return deriveMessageKey(rootKey.key, {
    kind: kindOf(context),
    entityId: tenantIdOf(context),
    field: context.name,
    dataVersion: context.version,
  });
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
