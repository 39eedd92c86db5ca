import type { Transform } from '../../access/rules.js';
import type { AuditContext } from '../../audit/entry.js';
import type { Budget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import { formatDate } from '../../kernel/dates.js';
import type { Json } from '../../kernel/json.js';
import type { TokenContent } from '../stored/content.js';
import { fingerprintText } from '../stored/fingerprint.js';
import type { TokenRow } from '../stored/row.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import { hasCvc, withoutCvc } from '../types/cvc.js';
import type { PresentedToken, TokenDescription } from './token-body.js';

/** A stored token that was opened. */
export interface OpenToken {
  readonly row: Omit<TokenRow, 'sealed'>;
  readonly content: TokenContent;
}

/** From which transform on a fingerprint is shown; a masked reader could find out the number by comparing it. */
export type Fingerprints = 'revealed' | 'masked';

export interface PresentOptions {
  readonly expressions: Expressions;
  readonly fingerprints: Fingerprints;
}

export interface Present {
  /** The whole token, its data as far as the transform shows it. */
  body(token: OpenToken, transform: Transform, nowMs: number): PresentedToken;
  /** Only the data, as far as the transform shows it; undefined where it shows none. */
  data(token: OpenToken, transform: Transform, nowMs: number): Json | undefined;
  /** Undefined where there is none, or where the transform does not show it. */
  fingerprint(token: OpenToken, transform: Transform): string | undefined;
}

/**
 * An answer that is kept for a repetition would outlive the hour of a verification code, so it never shows one, neither
 * the first time nor when it is given again.
 */
export function createPresent(
  { expressions, fingerprints }: PresentOptions,
  /** Asked for only by a mask: most tokens have none of their own. */
  budget: () => Budget,
  { keepAnswer }: Pick<AuditContext, 'keepAnswer'>,
): Present {
  function data({ row, content }: OpenToken, transform: Transform, nowMs: number): Json | undefined {
    if (transform === 'redact') return undefined;
    const live = liveData(row, content, nowMs);
    const plain = keepAnswer && hasCvc(content.type, live) ? withoutCvc(live) : live;
    if (transform === 'reveal') return plain;
    if (content.mask === undefined) return TOKEN_TYPE_CATALOGUE[content.type].maskedView(plain);
    return expressions.evaluateMask(content.mask, { data: plain }, budget());
  }

  function fingerprint({ row }: OpenToken, transform: Transform): string | undefined {
    if (row.fingerprint === null || !isPrintShown(fingerprints, transform)) return undefined;
    return fingerprintText(row.fingerprint);
  }

  return {
    data,
    fingerprint,
    body(token, transform, nowMs) {
      const { row, content } = token;
      const ofType = TOKEN_TYPE_CATALOGUE[content.type];
      const indexes = content.searchIndexes ?? ofType.searchIndexes;
      // Members without a value are left out where the answer is written; naming them all here is what is quick.
      return {
        id: row.id,
        type: content.type,
        tenant_id: row.tenant_id,
        data: data(token, transform, nowMs),
        mask: content.mask ?? ofType.mask,
        containers: [...content.containers],
        metadata: content.metadata,
        search_indexes: indexes.length === 0 ? undefined : [...indexes],
        fingerprint_expression: content.fingerprintExpression,
        fingerprint: fingerprint(token, transform),
        expires_at: dateText(row.expires_at),
        privacy: content.privacy,
        encryption: content.encryption,
        created_by: row.created_by ?? undefined,
        created_at: formatDate(row.created_at.getTime()),
        modified_by: row.modified_by ?? undefined,
        modified_at: dateText(row.modified_at),
      };
    },
  };
}

export function isPrintShown(fingerprints: Fingerprints, transform: Transform): boolean {
  return transform === 'reveal' || (transform === 'mask' && fingerprints === 'masked');
}

function dateText(date: Date | null): string | undefined {
  return date === null ? undefined : formatDate(date.getTime());
}

/**
 * What a caller may know of a token it has no right to read, when deduplication led there; and all that a key in a stranger's
 * hands gets of one made under deduplication, so that the shape of the answer does not tell whether the value was there.
 */
export function bareBody({ row, content }: OpenToken): PresentedToken {
  return {
    id: row.id,
    type: content.type,
    tenant_id: row.tenant_id,
    // In one order: that of the match would tell that it is one.
    containers: [...content.containers].sort(),
  };
}

/** Named one by one, so that a new member of a token is not told by itself. */
export function describedBody({ row, content }: OpenToken): TokenDescription {
  return {
    id: row.id,
    type: content.type,
    tenant_id: row.tenant_id,
    containers: [...content.containers],
    metadata: content.metadata,
    created_by: row.created_by ?? undefined,
    created_at: formatDate(row.created_at.getTime()),
    modified_by: row.modified_by ?? undefined,
    modified_at: dateText(row.modified_at),
    expires_at: dateText(row.expires_at),
  };
}

/** The data without a verification code whose hour is over, whether or not it was swept yet. */
export function liveData(row: Pick<TokenRow, 'cvc_expires_at'>, content: TokenContent, nowMs: number): Json {
  const isOver = row.cvc_expires_at !== null && row.cvc_expires_at.getTime() <= nowMs;
  return isOver ? withoutCvc(content.data) : content.data;
}
