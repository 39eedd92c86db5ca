import type { AuditContext } from '../../audit/entry.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { AppError, validationFailed } from '../../kernel/errors.js';
import { isWellFormed } from '../../kernel/text.js';
import type { Fingerprints } from '../present/present.js';
import type { TokenContent } from '../stored/content.js';
import { fingerprintOf } from '../stored/fingerprint.js';
import { matchDigestOf } from '../stored/match.js';
import { groupIdOf, tieOf } from '../stored/names.js';
import type { TokenRow } from '../stored/row.js';
import { sealContent } from '../stored/seal.js';
import { dataTerm, joinTerms, metadataTerm } from '../stored/terms.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import { hasCvc } from '../types/cvc.js';
import type { Evaluation } from './evaluate.js';
import { comparedText, evaluate } from './evaluate.js';
import { ownId, settleId } from './new-id.js';
import type { NewToken } from './new-token.js';

/** How long a card's verification code may be kept. */
export const CVC_LIFETIME_MS = 3_600_000;
const FIRST_VERSION = 1;

/** What the tenant wants of its tokens. */
export interface TokenSettings {
  readonly isFingerprinting: boolean;
  readonly isDeduplicating: boolean;
}

/** A token ready to be written. */
export interface PreparedToken {
  readonly row: TokenRow;
  readonly content: TokenContent;
  readonly isDeduplicated: boolean;
  /** We made the id up, so nobody else has it. */
  readonly isIdOurs: boolean;
  /** Where its id stands in the body, as errors name it. */
  readonly idPath: string;
  /** The expression that made the id up and may do so again when it is taken. */
  readonly idExpression: string | undefined;
}

export interface Preparation extends Evaluation {
  readonly tenantId: string;
  readonly auditContext: AuditContext;
  readonly keys: TenantKeys;
  readonly settings: TokenSettings;
  readonly fingerprints: Fingerprints;
  /** A public key or a session asks. */
  readonly isStranger: boolean;
  /** Whether whoever asks gets to read, in the clear, what lies in these containers. */
  readonly mayCompare: (containers: readonly string[]) => boolean;
}

/** Evaluates, fingerprints, hashes and seals; throws a 400 that names the field, under `path`, whose expression failed. */
export function prepareToken(preparation: Preparation, input: NewToken, path: string): PreparedToken {
  const { tenantId, auditContext, settings } = preparation;
  const content: TokenContent = {
    type: input.type,
    data: input.data,
    containers: input.containers,
    metadata: input.metadata,
    mask: input.mask,
    searchIndexes: input.searchIndexes,
    fingerprintExpression: input.fingerprintExpression,
    privacy: input.privacy,
    encryption: input.encryption,
  };
  const isIdOurs = input.id === undefined;
  const idExpression = input.id !== undefined && preparation.expressions.isExpression(input.id) ? input.id : undefined;
  const id = input.id === undefined ? ownId(content) : settleId(preparation, input.id, content, path);
  const isWished = isDeduplicating(preparation, input.deduplicate, content.containers);
  // An id that was named is to be there afterwards, so no other token may take its place; one that is worked out may.
  // Not for strangers: an id that does not come out as they wrote it would tell them of a match.
  const isDeduplicated = (isIdOurs || (idExpression !== undefined && !preparation.isStranger)) && isWished;
  const isFingerprinted = isWished || settings.isFingerprinting || content.fingerprintExpression !== undefined;
  const rowKey = { tenant_id: tenantId, id, data_version: FIRST_VERSION };
  const print = isFingerprinted ? fingerprint(preparation, content, path) : null;
  return {
    content,
    isDeduplicated,
    isIdOurs,
    idPath: `${path}id`,
    idExpression,
    // Named one by one: an object that begins with a spread costs ten times as much, and every token passes here.
    row: {
      tenant_id: tenantId,
      id,
      data_version: FIRST_VERSION,
      type: content.type,
      group_id: groupIdOf(content.type, content.containers),
      created_at: new Date(auditContext.atMs),
      tie: tieOf(id),
      created_by: auditContext.actor?.id ?? null,
      modified_by: null,
      modified_at: null,
      expires_at: input.expiresAtMs === undefined ? null : new Date(input.expiresAtMs),
      cvc_expires_at: hasCvc(content.type, content.data) ? new Date(auditContext.atMs + CVC_LIFETIME_MS) : null,
      fingerprint: print,
      terms: termsOf(preparation, content, path),
      sealed: sealContent(preparation.keys, rowKey, content),
      match_digest: print === null ? null : matchDigestOf(preparation.keys, content),
    },
  };
}

/**
 * Whether equal values are to be one token. To be told which of the values one can make up is there already is to read it:
 * where the tenant has not decided for it, that takes a right to read what the request is about.
 */
export function isDeduplicating(
  { settings, mayCompare }: Preparation,
  asked: boolean | undefined,
  containers: readonly string[],
): boolean {
  if (asked === undefined || settings.isDeduplicating) return asked ?? settings.isDeduplicating;
  return asked && mayCompare(containers);
}

/** The same token under another id, after the first one turned out to be taken. */
export function renamed(preparation: Preparation, token: PreparedToken, id: string): PreparedToken {
  const rowKey = { tenant_id: token.row.tenant_id, id, data_version: FIRST_VERSION };
  const sealed = sealContent(preparation.keys, rowKey, token.content);
  return { ...token, row: { ...token.row, ...rowKey, tie: tieOf(id), sealed } };
}

export function fingerprint(preparation: Preparation, content: TokenContent, path: string): Buffer {
  const { fingerprintExpression: own, type, data, metadata = {} } = content;
  if (own === undefined) return fingerprintOf(preparation.keys, type, TOKEN_TYPE_CATALOGUE[type].fingerprintText(data));
  const field = `${path}fingerprint_expression`;
  const text = comparedText(evaluate(preparation, own, { data, metadata }, field));
  if (text === undefined || text === '') throw validationFailed({ [field]: ['must give a value that is not empty'] });
  refuseBrokenText(text, field);
  return fingerprintOf(preparation.keys, type, text);
}

/** Keyed hashes of everything the token is found by. */
export function termsOf(preparation: Preparation, content: TokenContent, path: string): Buffer {
  return hashed(preparation, content, (expression, field) => [
    indexValue(preparation, expression, content, `${path}${field}`),
  ]);
}

/**
 * The same where a change leaves the indexes alone. One over a verification code whose hour is over gives nothing any
 * more, for which nobody is to blame.
 */
export function keptTermsOf(preparation: Preparation, content: TokenContent): Buffer {
  return hashed(preparation, content, (expression) => {
    const value = unlessCodeIsLost(content, expression, () => indexOfChange(preparation, expression, content));
    return value === undefined ? [] : [value];
  });
}

/** The same for indexes that a change brings along. */
export function changedTermsOf(preparation: Preparation, content: TokenContent): Buffer {
  return hashed(preparation, content, (expression) => [indexOfChange(preparation, expression, content)]);
}

/** Stored data decides which of several indexes fails, so a refused change does not tell which it was. */
function indexOfChange(preparation: Preparation, expression: string, content: TokenContent): string {
  return indexValue(preparation, expression, content, 'search_indexes');
}

/** Likewise the fingerprint, where a change leaves its expression alone. */
export function keptFingerprint(preparation: Preparation, content: TokenContent): Buffer | null {
  const expression = content.fingerprintExpression ?? '';
  return unlessCodeIsLost(content, expression, () => fingerprint(preparation, content, '')) ?? null;
}

function unlessCodeIsLost<T>({ type, data }: TokenContent, expression: string, evaluate: () => T): T | undefined {
  try {
    return evaluate();
  } catch (error) {
    const isCodeLost = type === 'card' && !hasCvc(type, data) && expression.includes('cvc');
    if (error instanceof AppError && isCodeLost) return undefined;
    throw error;
  }
}

function hashed(
  { keys }: Preparation,
  content: TokenContent,
  valuesOf: (expression: string, field: string) => string[],
): Buffer {
  const values = content.searchIndexes
    ? content.searchIndexes.flatMap((expression, n) => valuesOf(expression, `search_indexes[${n}]`))
    : TOKEN_TYPE_CATALOGUE[content.type].defaultIndexes(content.data);
  const terms = values.map((value) => dataTerm(keys, value));
  for (const [key, value] of Object.entries(content.metadata ?? {})) terms.push(metadataTerm(keys, key, value));
  return joinTerms(terms);
}

function indexValue(preparation: Preparation, expression: string, { data }: TokenContent, field: string): string {
  const text = comparedText(evaluate(preparation, expression, { data }, field));
  if (text === undefined || text === '') throw validationFailed({ [field]: ['must give one value that is not empty'] });
  refuseBrokenText(text, field);
  return text;
}

/** What is hashed goes through UTF-8, where all halves of surrogate pairs are one: different values would be alike. */
function refuseBrokenText(text: string, field: string): void {
  if (!isWellFormed(text)) throw validationFailed({ [field]: ['must not give unpaired surrogates'] });
}
