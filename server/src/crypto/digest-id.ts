import { createHash } from 'node:crypto';
import { encodeParts } from './encode-parts.js';

/** A name of fixed size for a list of texts, written as a UUID. Not keyed: only for what is no secret. */
export function digestId(parts: readonly string[]): string {
  const hex = createHash('sha256').update(encodeParts(parts)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
