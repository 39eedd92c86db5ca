import { digestId } from '../../crypto/digest-id.js';
import { macOf } from '../../crypto/keyed-hash.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import type { Json } from '../../kernel/json.js';
import { isJsonArray } from '../../kernel/json-object.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import type { TokenContent } from './content.js';
import type { TokenRow } from './row.js';

const DIGEST_BYTES = 16;
/** The digest of what a type brings along. */
export const OF_TYPE = Buffer.alloc(0);

/** What of a token's content decides whether it may stand for another one with the same fingerprint. */
type Matched = Pick<TokenContent, 'type' | 'mask' | 'fingerprintExpression'>;

/** Tells masks and fingerprint expressions apart without telling what they say; empty for those of the type. */
export function matchDigestOf(keys: TenantKeys, content: Matched): Buffer {
  const { type, mask, fingerprintExpression } = content;
  const ofType = TOKEN_TYPE_CATALOGUE[type].fingerprintExpression;
  // Most tokens are like this, and every new one passes here.
  if (mask === undefined && (fingerprintExpression ?? ofType) === ofType) return OF_TYPE;
  const text = effectiveText(content);
  if (text === effectiveText({ type, mask: undefined, fingerprintExpression: undefined })) return OF_TYPE;
  return macOf(keys.index, ['match-digest', text]).subarray(0, DIGEST_BYTES);
}

/** Whether two tokens of a type are masked and compared alike, be it by what is their own or by that of the type. */
export function isMatchedAlike(a: Matched, b: Matched): boolean {
  const isSame = a.mask === b.mask && a.fingerprintExpression === b.fingerprintExpression;
  return isSame || effectiveText(a) === effectiveText(b);
}

/** Where a token stands for others: containers, mask, expression and end together, as one fixed-size name. */
export function claimScopeOf(row: Pick<TokenRow, 'group_id' | 'expires_at' | 'match_digest'>): string {
  const matchDigest = row.match_digest ?? OF_TYPE;
  const end = row.expires_at === null ? '' : String(row.expires_at.getTime());
  return digestId(['claim-scope', row.group_id, matchDigest.toString('hex'), end]);
}

function effectiveText({ type, mask, fingerprintExpression }: Matched): string {
  const ofType = TOKEN_TYPE_CATALOGUE[type];
  return canonicalText([mask ?? ofType.mask ?? null, fingerprintExpression ?? ofType.fingerprintExpression]);
}

/** JSON text in which the order of members makes no difference. */
function canonicalText(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isJsonArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join(',')}}`;
}
