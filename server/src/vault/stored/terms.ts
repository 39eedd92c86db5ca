import { macOf } from '../../crypto/keyed-hash.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';

/** 128 bits: two different terms of a tenant never meet by chance. */
const TERM_BYTES = 16;

/** What an evaluated search index is found by. */
export function dataTerm(keys: TenantKeys, value: string): Buffer {
  return macOf(keys.index, ['data-term', value]).subarray(0, TERM_BYTES);
}

/** What a metadata entry is found by; letter case of the value makes no difference, that of the key does. */
export function metadataTerm(keys: TenantKeys, key: string, value: string): Buffer {
  return macOf(keys.index, ['metadata-term', key, value.toLowerCase()]).subarray(0, TERM_BYTES);
}

/** Terms one behind the other, as a token's row keeps them. */
export function joinTerms(terms: readonly Buffer[]): Buffer {
  return Buffer.concat(terms);
}

export function splitTerms(joined: Buffer): Buffer[] {
  return Array.from({ length: joined.length / TERM_BYTES }, (_, n) =>
    joined.subarray(n * TERM_BYTES, (n + 1) * TERM_BYTES),
  );
}
