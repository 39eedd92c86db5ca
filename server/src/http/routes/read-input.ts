import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import type { FieldErrors } from '../../kernel/errors.js';
import { validationFailed } from '../../kernel/errors.js';
import { lazy } from '../../kernel/lazy.js';
import { messagesOf } from './field-errors.js';
import { parseQueryString } from './query-string.js';
import type { ReadQuery, RouteRecord } from './route.js';
import { withoutNulls } from './without-nulls.js';

type JsonSchema = object & { readonly type?: unknown };

/** What a query string says: the declared parameters, and what the route reads by itself. */
export interface QueryInput {
  readonly query: unknown;
  readonly filters: unknown;
}

/**
 * Turns raw input into what a handler may trust, or throws a 400 that names every faulty field. Validators are compiled at
 * their first use, not at the start.
 */
export interface InputReader {
  query(raw: string): QueryInput;
  body(value: unknown): unknown;
}

type InputRecord = Partial<Pick<RouteRecord, 'method' | 'query' | 'readQuery' | 'body' | 'optionalBody' | 'anyBody'>>;

export function createInputReader(route: InputRecord): InputReader {
  const readQuery = createQueryReader(route.query, route.readQuery);
  const { body: schema } = route;
  const body = schema && { schema, validator: lazy(() => Compile(schema)) };
  // In a merge patch null is a word of its own: it removes.
  const keepsNulls = route.method === 'PATCH';
  return {
    query: readQuery,
    body(given) {
      const value = given === undefined && route.optionalBody ? {} : given;
      if (value === undefined) {
        throw validationFailed({ $: [route.anyBody ? 'is required: send JSON' : 'is required: send a JSON object'] });
      }
      if (!body) return value;
      const kept = withoutNulls(body.schema, value, keepsNulls);
      const validator = body.validator();
      if (validator.Check(kept)) return kept;
      throw validationFailed(messagesOf(body.schema, validator.Errors(kept)[1]));
    },
  };
}

function createQueryReader(schema: TSchema | undefined, readOthers: ReadQuery<unknown> | undefined) {
  const compiled = schema && lazy(() => Compile(schema));
  const properties = Object.entries(propertiesOf(schema ?? {}));
  return (raw: string): QueryInput => {
    const errors: FieldErrors = {};
    const given = parseQueryString(raw);
    const query = readParameters(properties, given, errors);
    const filters = readOthers?.(given, errors);
    const validator = compiled?.();
    const isValid = validator === undefined || validator.Check(query);
    if (isValid && Object.keys(errors).length === 0) return { query, filters };
    const findings = schema && validator && !isValid ? messagesOf(schema, validator.Errors(query)[1]) : {};
    throw validationFailed({ ...findings, ...errors });
  };
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  const { properties } = schema as { properties?: Record<string, JsonSchema> }; // Only object schemas have them.
  return properties ?? {};
}

/** Unknown parameters are ignored, an empty value counts as absent, a single one sent twice is refused. */
function readParameters(
  properties: readonly (readonly [string, JsonSchema])[],
  given: ReadonlyMap<string, readonly string[]>,
  errors: FieldErrors,
): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const [name, schema] of properties) {
    const values = given.get(name)?.filter((text) => text !== '') ?? [];
    const [first] = values;
    if (first === undefined) continue;
    if (schema.type === 'array') value[name] = values;
    else if (values.length > 1) errors[name] = ['must be given only once'];
    else value[name] = schema.type === 'integer' && /^-?\d{1,15}$/.test(first) ? Number(first) : first;
  }
  return value;
}
