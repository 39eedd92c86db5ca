import { createBudget } from '../../expressions/budget.js';
import { AppError } from '../../kernel/errors.js';
import type { TokenContent } from '../stored/content.js';
import { matchDigestOf } from '../stored/match.js';
import { groupIdOf, tieOf } from '../stored/names.js';
import { sealContent } from '../stored/seal.js';
import { hasCvc, withoutCvc } from '../types/cvc.js';
import type { NewToken } from './new-token.js';
import type { Preparation, PreparedToken } from './prepare.js';
import { fingerprint, termsOf } from './prepare.js';

/** What a token brings along from where it was made. */
export interface Origin {
  readonly createdAtMs: number;
  readonly createdBy: string | null;
  readonly modifiedAtMs: number | null;
  readonly modifiedBy: string | null;
  readonly isFingerprinted: boolean;
}

export interface ImportedToken extends PreparedToken {
  /** Every index and the fingerprint could be worked out again. */
  readonly isWhole: boolean;
}

const FIRST_VERSION = 1;

/**
 * A token from elsewhere under this tenant's keys, with its own id and times. Its deduplication is the caller's wish, not
 * the tenant's: a move must not lose ids. An index that gives nothing any more (one over a verification code, which does
 * not travel) is left out instead of keeping the token from coming.
 */
export function prepareImported(
  preparation: Preparation,
  id: string,
  input: NewToken,
  origin: Origin,
  isDeduplicated: boolean,
): ImportedToken {
  const { tenantId, settings, keys } = preparation;
  const content: TokenContent = {
    type: input.type,
    data: hasCvc(input.type, input.data) ? withoutCvc(input.data) : input.data,
    containers: input.containers,
    metadata: input.metadata,
    mask: input.mask,
    searchIndexes: input.searchIndexes,
    fingerprintExpression: input.fingerprintExpression,
    privacy: input.privacy,
    encryption: input.encryption,
  };
  const terms = attempt(() => termsOf(preparation, content, ''));
  const isFingerprinted =
    isDeduplicated ||
    settings.isFingerprinting ||
    origin.isFingerprinted ||
    content.fingerprintExpression !== undefined;
  const print = isFingerprinted ? attempt(() => fingerprint(preparation, content, '')) : undefined;
  const rowKey = { tenant_id: tenantId, id, data_version: FIRST_VERSION };
  return {
    content,
    isDeduplicated,
    isIdOurs: false,
    idPath: 'id',
    idExpression: undefined,
    isWhole: terms !== undefined && isFingerprinted === (print !== undefined),
    row: {
      ...rowKey,
      type: content.type,
      group_id: groupIdOf(content.type, content.containers),
      created_at: new Date(origin.createdAtMs),
      tie: tieOf(id),
      created_by: origin.createdBy,
      modified_by: origin.modifiedBy,
      modified_at: origin.modifiedAtMs === null ? null : new Date(origin.modifiedAtMs),
      expires_at: input.expiresAtMs === undefined ? null : new Date(input.expiresAtMs),
      cvc_expires_at: null,
      fingerprint: print ?? null,
      terms: terms ?? remainingTerms(preparation, content),
      sealed: sealContent(keys, rowKey, content),
      match_digest: print === undefined ? null : matchDigestOf(keys, content),
    },
  };
}

/** Of the indexes those that give a value, each with a budget of its own. */
function remainingTerms(preparation: Preparation, content: TokenContent): Buffer {
  const afresh = () => ({ ...preparation, budget: createBudget() });
  const indexes = (content.searchIndexes ?? []).filter(
    (index) => attempt(() => termsOf(afresh(), { ...content, searchIndexes: [index] }, '')) !== undefined,
  );
  return termsOf(afresh(), { ...content, searchIndexes: indexes }, '');
}

/** Undefined where an expression gives nothing usable. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
