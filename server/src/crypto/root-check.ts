import { EXIT, ExitError } from '../kernel/exit.js';
import { openRecord, sealRecord } from './aead.js';
import { encodeAssociatedData } from './associated-data.js';
import { withMessageKey } from './derive.js';
import { IntegrityError } from './integrity-error.js';
import type { RootKey } from './root-key.js';
import { idsOf } from './root-key-ring.js';

const KIND = 'root-check';
const FIELD = 'constant';
const VERSION = 1;
const CONSTANT = Buffer.from('strongroom root check');

/** Stored once in a database, so that a wrong root key is noticed at start and not at the first read. */
export interface RootCheck {
  readonly rootKeyId: string;
  readonly sealed: Buffer;
}

export function makeRootCheck(rootKey: RootKey): RootCheck {
  const associatedData = associatedDataOf(rootKey);
  const sealed = withCheckKey(rootKey, (key) =>
    sealRecord(key, { keyVersion: VERSION, dataVersion: VERSION, plaintext: CONSTANT, associatedData }),
  );
  return { rootKeyId: rootKey.id, sealed };
}

/** Gives the key of the ring that the database was sealed by, or ends the process. */
export function verifyRootCheck(ring: readonly RootKey[], row: RootCheck): RootKey {
  const rootKey = ring.find(({ id }) => id === row.rootKeyId);
  if (rootKey === undefined) {
    throw new ExitError(
      EXIT.configuration,
      `The database was sealed by root key ${row.rootKeyId}, but root key ${idsOf(ring).join(' and ')} was given. ` +
        `Nothing was changed. Start again with root key ${row.rootKeyId}.`,
    );
  }
  if (!opens(rootKey, row.sealed)) {
    throw new ExitError(
      EXIT.configuration,
      `Root key ${rootKey.id} has the id the database was sealed by, but the check value does not open: ` +
        'the key file or the check row is damaged. Nothing was changed. Restore the damaged one from a backup.',
    );
  }
  return rootKey;
}

function opens(rootKey: RootKey, sealed: Buffer): boolean {
  try {
    return withCheckKey(rootKey, (key) => openRecord(key, sealed, associatedDataOf(rootKey)).equals(CONSTANT));
  } catch (error) {
    if (error instanceof IntegrityError) return false;
    throw error;
  }
}

function withCheckKey<T>({ id, key }: RootKey, use: (key: Buffer) => T): T {
  return withMessageKey(key, { kind: KIND, entityId: id, field: FIELD, dataVersion: VERSION }, use);
}

function associatedDataOf(rootKey: RootKey): Buffer {
  return encodeAssociatedData({ tenantId: '', kind: KIND, entityId: rootKey.id, field: FIELD });
}
