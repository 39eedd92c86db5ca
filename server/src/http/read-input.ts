import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { FieldErrors } from '../kernel/errors.js';
import { validationFailed } from '../kernel/errors.js';
import { messagesOf } from './field-errors.js';
import { parseQueryString } from './query-string.js';

type JsonSchema = object & { readonly type?: unknown };

/** Turns raw input into what a handler may trust, or throws a 400 that names every faulty field. */
export interface InputReader {
  query(raw: string): unknown;
  body(value: unknown): unknown;
}

export function createInputReader(schemas: { readonly query?: TSchema; readonly body?: TSchema }): InputReader {
  const query = schemas.query && { schema: schemas.query, validator: Compile(schemas.query) };
  const body = schemas.body && { schema: schemas.body, validator: Compile(schemas.body) };
  return {
    query(raw) {
      if (!query) return {};
      const errors: FieldErrors = {};
      const value = readParameters(propertiesOf(query.schema), raw, errors);
      if (Object.keys(errors).length === 0 && query.validator.Check(value)) return value;
      throw validationFailed({ ...messagesOf(query.schema, query.validator.Errors(value)), ...errors });
    },
    body(value) {
      if (!body) return undefined;
      if (value === undefined) throw validationFailed({ $: ['is required: send a JSON object'] });
      const present = withoutNulls(body.schema, value);
      if (body.validator.Check(present)) return present;
      throw validationFailed(messagesOf(body.schema, body.validator.Errors(present)));
    },
  };
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  const { properties } = schema as { properties?: Record<string, JsonSchema> }; // Only object schemas have them.
  return properties ?? {};
}

/** Unknown parameters are ignored, an empty value counts as absent, a single one sent twice is refused. */
function readParameters(
  properties: Record<string, JsonSchema>,
  raw: string,
  errors: FieldErrors,
): Record<string, unknown> {
  const given = parseQueryString(raw);
  const value: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const values = given.get(name)?.filter((text) => text !== '') ?? [];
    const [first] = values;
    if (first === undefined) continue;
    if (schema.type === 'array') value[name] = values;
    else if (values.length > 1) errors[name] = ['must be given only once'];
    else value[name] = schema.type === 'integer' && /^-?\d{1,15}$/.test(first) ? Number(first) : first;
  }
  return value;
}

const UNKNOWN_MEMBERS_MAX = 20;

/**
 * In a body null means the same as absent, for the fields we know; what a client keeps with us is not touched. Of the
 * members a closed object does not know, a few are enough to refuse it: naming all of them could take half a second.
 */
function withoutNulls(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema as { items?: JsonSchema }; // Only schemas of lists have it.
    return items === undefined ? value : value.map((member) => withoutNulls(items, member));
  }
  if (typeof value !== 'object' || value === null) return value;
  const properties = propertiesOf(schema);
  const isClosed = (schema as { additionalProperties?: unknown }).additionalProperties === false;
  const kept: [string, unknown][] = [];
  let unknown = 0;
  for (const [name, member] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner === undefined) {
      unknown += 1;
      if (!isClosed || unknown <= UNKNOWN_MEMBERS_MAX) kept.push([name, member]);
    } else if (member !== null) {
      kept.push([name, withoutNulls(inner, member)]);
    }
  }
  return Object.fromEntries(kept);
}
