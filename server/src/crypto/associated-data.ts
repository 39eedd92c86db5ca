import { assert } from '../kernel/assert.js';
import { encodeParts } from './encode-parts.js';

const LABEL = 'strongroom/associated-data/1';

/** The one place a sealed record belongs to. Moved anywhere else, the record does not open. */
export interface RecordContext {
  /** Empty for what belongs to no tenant. */
  readonly tenantId: string;
  /** What sort of thing is sealed, such as `token` or `tenant-key`. */
  readonly kind: string;
  readonly entityId: string;
  readonly field: string;
}

export function encodeAssociatedData({ tenantId, kind, entityId, field }: RecordContext): Buffer {
  assert(kind !== '', 'a sealed record has a kind');
  return encodeParts([LABEL, tenantId, kind, entityId, field]);
}
