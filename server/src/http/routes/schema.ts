import type { TObject, TProperties, TSchema, TString, TStringOptions } from 'typebox';
import Type from 'typebox';
import Format from 'typebox/format';
import { Settings } from 'typebox/system';
import { formatDate, parseDate } from '../../kernel/dates.js';
import { hasForbiddenCharacters, isBlank } from '../../kernel/text.js';

/** What a failed field says instead of the general sentence. Left out of the API document. */
export const ERROR_MESSAGE = 'x-error-message';

/** How many faults of one request are named: enough to mend a body in one go, and bounded however large it is. */
Settings.Set({ maxErrors: 64 });

Format.Set('text', (value) => !hasForbiddenCharacters(value));
Format.Set('iso-date', (value) => parseDate(value) !== null);
Format.Set('name', (value) => !hasForbiddenCharacters(value) && !isBlank(value));

/** Text a client may send: no NUL, no half of a surrogate pair. */
export function text(options: TStringOptions): TString {
  return Type.String({ ...options, format: 'text' });
}

/** The name of a thing: not blank, at most 200 characters, stored as sent. */
export const Name = Type.String({ minLength: 1, maxLength: 200, format: 'name' });

/** A date a client may send, in any complete ISO 8601 notation. */
export function dateInput(options: TStringOptions): TString {
  return Type.String({
    ...options,
    format: 'iso-date',
    [ERROR_MESSAGE]: 'must be a complete ISO 8601 date or date-time, such as 2024-02-13T09:30:00Z',
  });
}

export const Uuid = Type.String({ format: 'uuid', examples: ['4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10'] });

export const DateTime = Type.String({ format: 'date-time', examples: [formatDate(1_707_816_600_125)] });

/**
 * For the API document: the same, or null. A default stays inside: beside `anyOf`, openapi-typescript would take the field for
 * one that must be sent. Choices stand one level below their default: beside it, the clients of openapi-generator in Go do
 * not compile.
 */
export function orNull(schema: object): TSchema {
  // Every schema may have these.
  const { description, ...rest } = schema as { readonly description?: unknown; readonly [keyword: string]: unknown };
  const { default: value, ...choices } = rest;
  const inner = 'enum' in rest && value !== undefined ? { allOf: [choices], default: value } : rest;
  return Type.Unsafe({ ...(description !== undefined && { description }), anyOf: [inner, { type: 'null' }] });
}

/** A schema that gets a name of its own in the API document. */
export function named<P extends TProperties>(title: string, properties: P): TObject<P> {
  return Type.Object(properties, { title });
}

/** The two-property wrapper of every paginated list. */
export function listSchema<P extends TSchema, T extends TSchema>(title: string, pagination: P, item: T) {
  return Type.Object({ pagination, data: Type.Array(item) }, { title });
}
