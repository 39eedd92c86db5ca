import { formatDate, parseDate } from '../kernel/dates.js';
import type { FieldErrors } from '../kernel/errors.js';
import { isUuid } from '../kernel/ids.js';
import type { Json } from '../kernel/json.js';
import type { JsonObject } from '../kernel/json-object.js';
import { isJsonObject } from '../kernel/json-object.js';
import { readNewToken } from '../resources/tokens/index.js';
import type { BroughtToken, CarriedToken } from '../vault/carry/index.js';
import { storedIdFault } from '../vault/index.js';

/** Clocks of two installations differ a little; a day is no slip of a clock. */
const FUTURE_MAX_MS = 86_400_000;

/** One token as a line of JSON, every field as it is stored. */
export function tokenLine(token: CarriedToken): Buffer {
  const line = {
    id: token.id,
    type: token.type,
    data: token.data,
    mask: token.mask,
    containers: token.containers,
    metadata: token.metadata,
    search_indexes: token.searchIndexes,
    fingerprint_expression: token.fingerprintExpression,
    fingerprint: token.fingerprint,
    privacy: token.privacy,
    encryption: token.encryption,
    expires_at: dateText(token.expiresAtMs),
    created_by: token.createdBy ?? undefined,
    created_at: dateText(token.createdAtMs),
    modified_by: token.modifiedBy ?? undefined,
    modified_at: dateText(token.modifiedAtMs),
  };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

export type ReadLine =
  | ({ readonly kind: 'token' } & BroughtToken)
  | { readonly kind: 'expired' }
  /** What is wrong is told by field, never by value. */
  | { readonly kind: 'refused'; readonly faults: readonly string[] };

/** Reads a line as strictly as the API would read the token: whoever has the public key can make such a file. */
export function readTokenLine(text: string, nowMs: number): ReadLine {
  const line = parsed(text);
  if (line === undefined) return { kind: 'refused', faults: ['the line is no JSON object'] };
  const expiresAtMs = dateOf(line.expires_at);
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return { kind: 'expired' };
  const { id, origin, faults } = readOrigin(line, nowMs);
  const errors: FieldErrors = {};
  const { id: _, deduplicate_token: __, ...body } = line;
  const input = readNewToken(body, { path: '', nowMs, wasStored: true }, errors);
  for (const [field, messages] of Object.entries(errors)) faults.push(`${field} ${messages.join('; ')}`);
  if (input === undefined || faults.length > 0) return { kind: 'refused', faults };
  return { kind: 'token', id, input, origin };
}

function readOrigin(line: JsonObject, nowMs: number): { id: string; origin: BroughtToken['origin']; faults: string[] } {
  const faults: string[] = [];
  const id = typeof line.id === 'string' ? line.id : '';
  const fault = storedIdFault(id);
  if (fault !== undefined) faults.push(`id ${fault}`);
  const createdAtMs = dateOf(line.created_at);
  if (createdAtMs === null) faults.push('created_at must be a date');
  else if (createdAtMs > nowMs + FUTURE_MAX_MS) faults.push('created_at must not lie in the future');
  for (const field of ['created_by', 'modified_by']) {
    const value = line[field] ?? null;
    if (value !== null && !(typeof value === 'string' && isUuid(value))) faults.push(`${field} must be a UUID`);
  }
  const hasModifiedAt = line.modified_at !== undefined && line.modified_at !== null;
  if (hasModifiedAt && dateOf(line.modified_at) === null) faults.push('modified_at must be a date');
  const origin = {
    createdAtMs: createdAtMs ?? 0,
    createdBy: textOf(line.created_by),
    modifiedAtMs: dateOf(line.modified_at),
    modifiedBy: textOf(line.modified_by),
    isFingerprinted: typeof line.fingerprint === 'string',
  };
  return { id, origin, faults };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json; // Whatever a parser of JSON gives is JSON.
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function dateOf(value: Json | undefined): number | null {
  return typeof value === 'string' ? parseDate(value) : null;
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null;
}

function dateText(atMs: number | null): string | undefined {
  return atMs === null ? undefined : formatDate(atMs);
}
