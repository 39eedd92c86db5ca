import { createHash } from 'node:crypto';
import type { Principal } from '../../access/principal.js';
import { macOf } from '../../crypto/keyed-hash.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { AppError } from '../../kernel/errors.js';
import type { Secret } from '../../kernel/secret.js';

/** A request that came with an idempotency key. Two of them are the same when all but the last three fields are. */
export interface KeyedRequest {
  readonly principal: Principal;
  readonly key: string;
  readonly method: string;
  /** As it was sent, without the query. */
  readonly pathname: string;
  /** What else tells requests apart that come with a key many share; undefined for other callers. */
  readonly sharedBy: { readonly body: Buffer; readonly client: string } | undefined;
  readonly credential: Secret<string> | undefined;
  readonly secretFields: readonly string[];
  /** What the caller may do with tokens, asked for when it matters; undefined where the answer shows none. */
  readonly rights: () => string | undefined;
}

const KEY_PATTERN = /^[\x21-\x7e]{1,200}$/;

export function refuseUnfit(key: string): void {
  if (KEY_PATTERN.test(key)) return;
  const detail = 'The idempotency key must be 1 to 200 visible ASCII characters, sent once.';
  throw new AppError('malformed_request', detail);
}

/** The table shows neither who asked nor for what. */
export function keyedIdOf(keys: TenantKeys, { principal, key, method, pathname, sharedBy }: KeyedRequest): Buffer {
  const { type, id } = principal.actor;
  const path = pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  const parts = [type, id, key, method, path];
  if (sharedBy === undefined) return macOf(keys.index, ['idempotency', ...parts]);
  const body = createHash('sha256').update(sharedBy.body).digest();
  return macOf(keys.index, ['idempotency-shared', ...parts, sharedBy.client, body]);
}
