import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { EXIT, ExitError } from '../kernel/exit.js';
import { IntegrityError } from './integrity-error.js';
import type { RootKey } from './root-key.js';
import { idsOf, unwrapByRing } from './root-key-ring.js';
import { withWiped } from './wiped.js';
import { type WrapContext, wrapKey } from './wrap.js';

export const SYSTEM_KEY_NAMES = ['api-key-pepper', 'cursor-mac', 'row-mac', 'audit-mac', 'audit-signing'] as const;
export type SystemKeyName = (typeof SYSTEM_KEY_NAMES)[number];

const KEY_BYTES = 32;
const VERSION = 1;

/** The keys that belong to the installation and to no tenant. They outlive a rotation of the root key. */
export interface SystemKeys {
  readonly apiKeyPepper: KeyObject;
  readonly cursorMac: KeyObject;
  readonly rowMac: KeyObject;
  readonly auditMac: KeyObject;
  /** Ed25519 private key. */
  readonly auditSigning: KeyObject;
}

export interface SystemKeyRow<Name extends string = string> {
  readonly name: Name;
  readonly wrapped: Buffer;
}

export function generateSystemKeys(rootKey: RootKey): SystemKeyRow<SystemKeyName>[] {
  return SYSTEM_KEY_NAMES.map((name) => {
    const fresh = name === 'audit-signing' ? newSigningKey() : randomBytes(KEY_BYTES);
    return { name, wrapped: withWiped(fresh, (bytes) => wrapKey(rootKey, systemKeyContext(name), bytes)) };
  });
}

/** Without these keys nothing can be trusted, so one that is missing or damaged stops the start. */
export function openSystemKeys(ring: readonly RootKey[], rows: readonly SystemKeyRow[]): SystemKeys {
  const open = (name: SystemKeyName) => openSystemKey(ring, rows, name);
  return {
    apiKeyPepper: open('api-key-pepper'),
    cursorMac: open('cursor-mac'),
    rowMac: open('row-mac'),
    auditMac: open('audit-mac'),
    auditSigning: toSigningKey(open('audit-signing')),
  };
}

function openSystemKey(ring: readonly RootKey[], rows: readonly SystemKeyRow[], name: SystemKeyName): KeyObject {
  const row = rows.find((candidate) => candidate.name === name);
  if (row === undefined) throw systemKeyFault(name, 'is missing from the database');
  try {
    return unwrapByRing(ring, systemKeyContext(name), row.wrapped);
  } catch (error) {
    if (!(error instanceof IntegrityError)) throw error;
    throw systemKeyFault(name, `does not open with root key ${idsOf(ring).join(' or ')}`, error);
  }
}

function systemKeyFault(name: SystemKeyName, story: string, cause?: unknown): ExitError {
  const message = `The system key ${name} ${story}. Nothing was changed. Restore the database from a backup.`;
  return new ExitError(EXIT.configuration, message, cause);
}

/** Also for a name of a later release: a rotation of the root key wraps every row there is. */
export function systemKeyContext(name: string): WrapContext {
  return { scope: 'system', name, version: VERSION };
}

function newSigningKey(): Buffer {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' });
}

function toSigningKey(secret: KeyObject): KeyObject {
  return withWiped(secret.export(), (key) => createPrivateKey({ key, type: 'pkcs8', format: 'der' }));
}
