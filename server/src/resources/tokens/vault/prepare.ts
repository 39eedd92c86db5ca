import type { Act } from '../../../audit/entry.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import type { Budget } from '../../../expressions/budget.js';
import type { Expressions } from '../../../expressions/expressions.js';
import { AppError, validationFailed } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { Json } from '../../../kernel/json.js';
import { isWellFormed } from '../../../kernel/text.js';
import type { NewToken } from '../input/new-token.js';
import { idFault } from '../input/token-id.js';
import type { TokenContent } from '../stored/content.js';
import { fingerprintOf } from '../stored/fingerprint.js';
import { groupIdOf, tieOf } from '../stored/names.js';
import type { TokenRow } from '../stored/row.js';
import { sealContent } from '../stored/seal.js';
import { dataTerm, joinTerms, metadataTerm } from '../stored/terms.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import { hasCvc } from '../types/cvc.js';

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

export interface Preparation {
  readonly tenantId: string;
  readonly act: Act;
  readonly keys: TenantKeys;
  readonly settings: TokenSettings;
  readonly expressions: Expressions;
  readonly budget: Budget;
}

/** Evaluates, fingerprints, hashes and seals; throws a 400 that names the field, under `path`, whose expression failed. */
export function prepareToken(preparation: Preparation, input: NewToken, path: string): PreparedToken {
  const { tenantId, act, settings } = preparation;
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
  const id = input.id === undefined ? newId() : evaluateId(preparation, input.id, content.data, path);
  const isDeduplicated = input.deduplicate ?? settings.isDeduplicating;
  const isFingerprinted = isDeduplicated || settings.isFingerprinting || content.fingerprintExpression !== undefined;
  const place = { tenant_id: tenantId, id, data_version: FIRST_VERSION };
  return {
    content,
    isDeduplicated,
    isIdOurs,
    idPath: `${path}id`,
    idExpression: input.id !== undefined && preparation.expressions.isExpression(input.id) ? input.id : undefined,
    // Named one by one: an object that begins with a spread costs ten times as much, and every token passes here.
    row: {
      tenant_id: tenantId,
      id,
      data_version: FIRST_VERSION,
      type: content.type,
      group_id: groupIdOf(content.type, content.containers),
      created_at: new Date(act.atMs),
      tie: tieOf(id),
      created_by: act.actor?.id ?? null,
      modified_by: null,
      modified_at: null,
      expires_at: input.expiresAtMs === undefined ? null : new Date(input.expiresAtMs),
      cvc_expires_at: hasCvc(content.type, content.data) ? new Date(act.atMs + CVC_LIFETIME_MS) : null,
      fingerprint: isFingerprinted ? fingerprint(preparation, content, path) : null,
      terms: termsOf(preparation, content, path),
      sealed: sealContent(preparation.keys, place, content),
    },
  };
}

/** The same token under another id, after the first one turned out to be taken. */
export function renamed(preparation: Preparation, token: PreparedToken, id: string): PreparedToken {
  const place = { tenant_id: token.row.tenant_id, id, data_version: FIRST_VERSION };
  const sealed = sealContent(preparation.keys, place, token.content);
  return { ...token, row: { ...token.row, ...place, tie: tieOf(id), sealed } };
}

export function evaluateId(preparation: Preparation, text: string, data: Json, path: string): string {
  if (!preparation.expressions.isExpression(text)) return text;
  const id = textOf(evaluate(preparation, text, { data }, `${path}id`));
  const fault = id === undefined ? 'must give a text' : idFault(id);
  if (id === undefined || fault !== undefined) throw validationFailed({ [`${path}id`]: [fault ?? ''] });
  return id;
}

export function fingerprint(preparation: Preparation, content: TokenContent, path: string): Buffer {
  const { fingerprintExpression: own, type, data, metadata = {} } = content;
  if (own === undefined) return fingerprintOf(preparation.keys, type, TOKEN_TYPE_CATALOGUE[type].fingerprintText(data));
  const field = `${path}fingerprint_expression`;
  const text = textOf(evaluate(preparation, own, { data, metadata }, field));
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
  return hashed(preparation, content, (expression, field) => {
    const value = unlessCodeIsLost(content, expression, () => indexValue(preparation, expression, content, field));
    return value === undefined ? [] : [value];
  });
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
  const text = textOf(evaluate(preparation, expression, { data }, field));
  if (text === undefined || text === '') throw validationFailed({ [field]: ['must give one value that is not empty'] });
  refuseBrokenText(text, field);
  return text;
}

/** What is hashed goes through UTF-8, where all halves of surrogate pairs are one: different values would be alike. */
function refuseBrokenText(text: string, field: string): void {
  if (!isWellFormed(text)) throw validationFailed({ [field]: ['must not give unpaired surrogates'] });
}

function evaluate(
  { expressions, budget }: Preparation,
  text: string,
  variables: Readonly<Record<string, Json>>,
  field: string,
): Json | undefined {
  try {
    return expressions.evaluate(text, variables, budget);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_expression') throw error;
    throw new AppError('invalid_expression', error.message, { errors: { [field]: [error.message] }, cause: error });
  }
}

/** One value as the text it is compared by; lists and objects are several. */
function textOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === 'object') return undefined;
  return String(value);
}
