import { type KeyObject, randomBytes } from 'node:crypto';
import { IntegrityError } from './integrity-error.js';
import type { RootKey } from './root-key.js';
import { unwrapByRing } from './root-key-ring.js';
import { withWiped } from './wiped.js';
import { type WrapContext, wrapKey } from './wrap.js';

export const TENANT_KEY_KINDS = ['encryption', 'fingerprint', 'index'] as const;
export type TenantKeyKind = (typeof TENANT_KEY_KINDS)[number];

const KEY_BYTES = 32;
const FIRST_VERSION = 1;

export interface TenantKeys {
  readonly tenantId: string;
  readonly encryption: {
    /** New records are sealed under this one; the others only open what they sealed. */
    readonly currentVersion: number;
    readonly byVersion: ReadonlyMap<number, KeyObject>;
  };
  readonly fingerprint: KeyObject;
  readonly index: KeyObject;
}

export interface TenantKeyRow<Kind extends string = string> {
  readonly kind: Kind;
  readonly version: number;
  readonly wrapped: Buffer;
}

/** Random and not derived from the root key: destroying the wrapped rows destroys the tenant's data for good. */
export function generateTenantKeys(rootKey: RootKey, tenantId: string): TenantKeyRow<TenantKeyKind>[] {
  return TENANT_KEY_KINDS.map((kind) => generateTenantKey(rootKey, tenantId, kind, FIRST_VERSION));
}

/** The next version of the encryption key, which from its commit on seals whatever is new. */
export function generateEncryptionKey(rootKey: RootKey, tenantId: string, version: number): TenantKeyRow {
  return generateTenantKey(rootKey, tenantId, 'encryption', version);
}

function generateTenantKey(rootKey: RootKey, tenantId: string, kind: TenantKeyKind, version: number) {
  const place: WrapContext = { scope: 'tenant', tenantId, name: kind, version };
  return { kind, version, wrapped: withWiped(randomBytes(KEY_BYTES), (bytes) => wrapKey(rootKey, place, bytes)) };
}

/** Throws IntegrityError when a key is missing or does not open: that concerns this tenant alone. */
export function openTenantKeys(ring: readonly RootKey[], tenantId: string, rows: readonly TenantKeyRow[]): TenantKeys {
  const open = (kind: TenantKeyKind) => openKind(ring, tenantId, rows, kind);
  const byVersion = open('encryption');
  return {
    tenantId,
    encryption: { currentVersion: Math.max(...byVersion.keys()), byVersion },
    fingerprint: onlyKey(open('fingerprint')),
    index: onlyKey(open('index')),
  };
}

function openKind(ring: readonly RootKey[], tenantId: string, rows: readonly TenantKeyRow[], kind: TenantKeyKind) {
  const keys = new Map<number, KeyObject>();
  for (const { version, wrapped } of rows.filter((row) => row.kind === kind)) {
    keys.set(version, unwrapByRing(ring, { scope: 'tenant', tenantId, name: kind, version }, wrapped));
  }
  if (keys.size === 0) throw new IntegrityError(`A tenant has no ${kind} key.`);
  return keys;
}

/** Fingerprints and search indexes must compare equal for ever, so their keys have a single version. */
function onlyKey(keys: ReadonlyMap<number, KeyObject>): KeyObject {
  const [key, ...others] = keys.values();
  if (key === undefined || others.length > 0) throw new IntegrityError('A tenant has several keys where one belongs.');
  return key;
}
