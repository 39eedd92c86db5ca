import type { KeyObject } from 'node:crypto';
import { openRecord, sealRecord } from './aead.js';
import { encodeAssociatedData } from './associated-data.js';
import type { MessageKeyContext } from './derive.js';
import { withMessageKey } from './derive.js';
import { deriveSubkey } from './subkey.js';

/** Seals what belongs to the installation and to no tenant. */
export interface SystemSeal {
  seal(context: MessageKeyContext, plaintext: Buffer): Buffer;
  /** Throws IntegrityError for what was changed, moved to another place or sealed by somebody else. */
  open(context: MessageKeyContext, record: Buffer): Buffer;
}

const NO_TENANT = '';
/** System keys have no versions: they outlive a rotation of the root key. */
const KEY_VERSION = 1;

/** The label tells what the seal is for: no other seal of the same parent opens what this one sealed. */
export function createSystemSeal(parent: KeyObject, label: string): SystemSeal {
  const key = deriveSubkey(parent, label);
  const associatedDataOf = (context: MessageKeyContext) => encodeAssociatedData({ ...context, tenantId: NO_TENANT });
  return {
    seal: (context, plaintext) =>
      withMessageKey(key, context, (messageKey) =>
        sealRecord(messageKey, {
          keyVersion: KEY_VERSION,
          dataVersion: context.dataVersion,
          plaintext,
          associatedData: associatedDataOf(context),
        }),
      ),
    open: (context, record) =>
      withMessageKey(key, context, (messageKey) => openRecord(messageKey, record, associatedDataOf(context))),
  };
}
