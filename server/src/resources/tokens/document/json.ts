import type { TSchema } from 'typebox';
import Type from 'typebox';

/** A schema of the document, by its name there. */
export function ref(name: string): TSchema {
  return Type.Unsafe({ $ref: `#/components/schemas/${name}` });
}

/**
 * An array inside a schema that refers to itself. Said by `unevaluatedItems`, because TypeScript cannot have a type that holds
 * an array of itself as openapi-typescript would write it; validators read both alike.
 */
export function arrayOf(name: string): TSchema {
  return Type.Unsafe({ type: 'array', unevaluatedItems: ref(name) });
}

/** A pattern as the document writes it: slashes need no escape there. */
export function patternOf({ source }: RegExp): string {
  return source.replaceAll('\\/', '/');
}

export const SAFE_NUMBER: TSchema = Type.Number({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
});

/** Any JSON, but no number that could not be returned as it was sent. */
export const JSON_COMPONENTS: Readonly<Record<string, TSchema>> = {
  JsonValue: Type.Unsafe({
    description: 'Any JSON. Numbers beyond ±9007199254740991 are refused: send them as text.',
    anyOf: [ref('JsonPresent'), { type: 'null' }],
  }),
  JsonPresent: Type.Unsafe({
    description: 'Any JSON but null.',
    anyOf: [Type.String(), SAFE_NUMBER, Type.Boolean(), arrayOf('JsonValue'), ref('JsonObject')],
  }),
  JsonObject: Type.Unsafe({ type: 'object', additionalProperties: ref('JsonValue') }),
};
