import { digestId } from '../../../crypto/digest-id.js';
import { macOf } from '../../../crypto/keyed-hash.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import type { Json } from '../../../kernel/json.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import { isJsonArray } from '../types/json-object.js';
import type { TokenType } from '../types/names.js';
import type { TokenContent } from './content.js';
import type { TokenRow } from './row.js';

const DIGEST_BYTES = 16;
/** The digest of the mask a type brings along. */
export const OF_TYPE = Buffer.alloc(0);

/** Tells masks apart without telling what they say; empty for the mask of the type. */
export function maskDigestOf(keys: TenantKeys, { type, mask }: Pick<TokenContent, 'type' | 'mask'>): Buffer {
  if (mask === undefined) return OF_TYPE;
  const text = canonicalText(mask);
  if (text === textOfType(type)) return OF_TYPE;
  return macOf(keys.index, ['mask-digest', text]).subarray(0, DIGEST_BYTES);
}

/** Whether two tokens of a type are masked alike, be it by masks of their own or by that of the type. */
export function isMaskedAlike(a: Pick<TokenContent, 'type' | 'mask'>, b: Pick<TokenContent, 'type' | 'mask'>): boolean {
  return a.mask === b.mask || effectiveText(a) === effectiveText(b);
}

/** Where a token stands for others: containers, mask and end together, as one fixed-size name. */
export function claimScopeOf(row: Pick<TokenRow, 'group_id' | 'expires_at' | 'mask_digest'>): string {
  const maskDigest = row.mask_digest ?? OF_TYPE;
  const end = row.expires_at === null ? '' : String(row.expires_at.getTime());
  return digestId(['claim-scope', row.group_id, maskDigest.toString('hex'), end]);
}

function effectiveText({ type, mask }: Pick<TokenContent, 'type' | 'mask'>): string {
  return mask === undefined ? textOfType(type) : canonicalText(mask);
}

function textOfType(type: TokenType): string {
  return canonicalText(TOKEN_TYPE_CATALOGUE[type].mask ?? null);
}

/** JSON text in which the order of members makes no difference. */
function canonicalText(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isJsonArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join(',')}}`;
}
