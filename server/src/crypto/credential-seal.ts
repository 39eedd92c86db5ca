import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Secret } from '../kernel/secret.js';
import { openRecord, sealRecord } from './aead.js';
import { encodeAssociatedData, type RecordContext } from './associated-data.js';
import { encodeParts } from './encode-parts.js';
import { IntegrityError } from './integrity-error.js';
import { withWiped } from './wiped.js';

const LABEL = 'strongroom/credential-key/1';
const KEY_BYTES = 32;
const NO_SALT = Buffer.alloc(0);
/** A credential has no versions: another one is another key. */
const VERSIONS = { keyVersion: 1, dataVersion: 1 };

/**
 * Seals what only the holder of a credential may see again. The credential itself is not kept anywhere, so neither the
 * database nor the tenant's keys open it. It is text of 154 random bits and not a key, hence the full HKDF with its
 * extract step; it needs no slow hash. The caller that stores the result seals it once more under the tenant's key.
 */
export function sealForCredential(credential: Secret<string>, context: RecordContext, plaintext: Buffer): Buffer {
  const associatedData = encodeAssociatedData(context);
  return sealRecord(credentialKey(credential, context), { ...VERSIONS, plaintext, associatedData });
}

/** Undefined for any other credential than the one it was sealed for. */
export function openForCredential(
  credential: Secret<string>,
  context: RecordContext,
  record: Buffer,
): Buffer | undefined {
  try {
    return openRecord(credentialKey(credential, context), record, encodeAssociatedData(context));
  } catch (error) {
    if (error instanceof IntegrityError) return undefined;
    throw error;
  }
}

function credentialKey(credential: Secret<string>, { tenantId, kind, entityId, field }: RecordContext): KeyObject {
  const info = encodeParts([LABEL, tenantId, kind, entityId, field]);
  return withWiped(Buffer.from(hkdfSync('sha256', credential.reveal(), NO_SALT, info, KEY_BYTES)), createSecretKey);
}
