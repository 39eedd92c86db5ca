import type { KeyObject } from 'node:crypto';
import { macEquals, macOf } from '../../crypto/keyed-hash.js';
import type { StoredPortalSession } from './queries.js';

/** Over when a session was last seen, apart from what never changes of it. A moment that is put back only ends it earlier. */
export function seenMacOf(rowMacKey: KeyObject, sessionId: string, seenAt: Date): Buffer {
  return macOf(rowMacKey, ['portal-session-seen-1', sessionId, String(seenAt.getTime())]);
}

/** Whether the product wrote when it was seen. */
export function isSeenSound(
  rowMacKey: KeyObject,
  { id, seen_at: seenAt, seen_mac: mac }: Pick<StoredPortalSession, 'id' | 'seen_at' | 'seen_mac'>,
): boolean {
  return mac !== null && macEquals(seenMacOf(rowMacKey, id, seenAt), mac);
}
