import type { TSchema } from 'typebox';
import Type from 'typebox';
import { CONTAINER_LENGTH_MAX, CONTAINER_PATTERN } from '../../../access/check-rules.js';
import { EXPRESSION_LENGTH_MAX } from '../../../expressions/expression-text.js';
import { orNull } from '../../../http/routes/schema.js';
import { DATE_LENGTH_MAX } from '../../../kernel/dates.js';
import type { TokenType } from '../../../vault/index.js';
import {
  CLASSIFICATIONS,
  ID_LENGTH_MAX,
  ID_LENGTH_MIN,
  IMPACT_LEVELS,
  METADATA_ENTRIES_MAX,
  RESERVED,
  RESTRICTION_POLICIES,
  TOKEN_TYPE_CATALOGUE,
  TOKEN_TYPES,
  WHOLE_TOKEN,
} from '../../../vault/index.js';
import { CONTAINERS_MAX } from '../input/containers.js';
import { SEARCH_INDEXES_MAX } from '../input/fields.js';
import { KEY_LENGTH_MAX, VALUE_LENGTH_MAX } from '../input/metadata.js';
import { DATA_OF } from './data.js';
import { arrayOf, patternOf, ref, SAFE_NUMBER } from './json.js';

/** The shortest date that is read: a year and its day, 2024044. */
const DATE_LENGTH_MIN = 7;

/** Not at an end: white space. Nowhere: what means something in a path, a query, a filter or an expression. */
const ID_PATTERN =
  '^[^\\s\\u0085#/\\\\+?\\[\\]|&=%<>{}^]([^#/\\\\+?\\[\\]|&=%<>{}^]*[^\\s\\u0085#/\\\\+?\\[\\]|&=%<>{}^])?$';

const optional = (schema: TSchema, description: string) => Type.Optional(orNull({ ...schema, description }));

const Expression = (options: { default?: string } = {}) =>
  Type.String({ minLength: 1, maxLength: EXPRESSION_LENGTH_MAX, ...options });

const Id = Type.Optional(
  Type.Unsafe({
    description: 'An id, or an expression over `data`. A UUID without it',
    anyOf: [
      Type.String({
        minLength: ID_LENGTH_MIN,
        maxLength: ID_LENGTH_MAX,
        pattern: ID_PATTERN,
        not: { anyOf: [{ const: RESERVED }, { pattern: `^${WHOLE_TOKEN}` }] },
      }),
      Type.String({ maxLength: EXPRESSION_LENGTH_MAX, pattern: '\\{\\{' }),
      { type: 'null' },
    ],
  }),
);

/** An entry with null counts as left out of a new token, and is removed by a change. */
const MetadataInput = Type.Unsafe({
  type: 'object',
  title: 'TokenMetadataInput',
  maxProperties: METADATA_ENTRIES_MAX,
  propertyNames: { minLength: 1, maxLength: KEY_LENGTH_MAX },
  additionalProperties: orNull(Type.String({ maxLength: VALUE_LENGTH_MAX })),
});

const choice = (values: readonly string[]) => Type.Optional(orNull(Type.Enum([...values])));

const PrivacyInput = Type.Object(
  {
    classification: choice(CLASSIFICATIONS),
    impact_level: choice(IMPACT_LEVELS),
    restriction_policy: choice(RESTRICTION_POLICIES),
  },
  { title: 'TokenPrivacyInput' },
);

const ExpiresAt = Type.String({
  minLength: DATE_LENGTH_MIN,
  maxLength: DATE_LENGTH_MAX,
  pattern: '^[0-9]',
  examples: ['2099-12-31T00:00:00Z'],
});

/** What a new token and a change have in common. With a type, what holds where a field is left out. */
function writtenFields(type?: TokenType) {
  const row = type && TOKEN_TYPE_CATALOGUE[type];
  const containers = {
    minItems: 1,
    maxItems: CONTAINERS_MAX,
    examples: [['/pci/high/']],
    ...(row && { default: [row.container] }),
  };
  const container = Type.String({ maxLength: CONTAINER_LENGTH_MAX, pattern: patternOf(CONTAINER_PATTERN) });
  const indexes = { maxItems: SEARCH_INDEXES_MAX, ...(row && { default: [...row.searchIndexes] }) };
  return {
    mask: Type.Optional(
      Type.Unsafe({
        description: 'Any JSON whose strings may be expressions over `data`',
        anyOf: [{ ...ref('JsonPresent'), ...(row?.mask !== undefined && { default: row.mask }) }, { type: 'null' }],
      }),
    ),
    containers: optional(
      Type.Array(container, containers),
      'Where the token lies; `privacy` decides where it is left out',
    ),
    metadata: optional(MetadataInput, 'Never masked: not for sensitive values'),
    search_indexes: optional(Type.Array(Expression(), indexes), 'Expressions over `data` to search by'),
    fingerprint_expression: optional(
      Expression(row && { default: row.fingerprintExpression }),
      'What makes two values the same. Without it a token is fingerprinted if the Tenant says so',
    ),
    deduplicate_token: optional(Type.Boolean(), 'Instead of the setting of the Tenant'),
    expires_at: optional(ExpiresAt, 'A date in the future, ISO 8601 or M/D/YYYY. Never without it'),
    privacy: optional(
      PrivacyInput,
      'Without containers it chooses one; without it the first container or the type does',
    ),
    encryption: optional(ref('JsonObject'), 'Notes on encryption by the client, given back as they are'),
  };
}

function newTokenOf(type: TokenType): TSchema {
  const name = Type.Enum([type]);
  const field = type === 'token' ? Type.Optional(orNull(Type.Enum([type], { default: type }))) : name;
  return Type.Object({ id: Id, type: field, data: DATA_OF[type], ...writtenFields(type) }, { title: titleOf(type) });
}

/** `TokenCreate` is all of them. */
function titleOf(type: TokenType): string {
  if (type === 'token') return 'GenericTokenCreate';
  const words = type.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Create`;
}

/** For the API document: tokens are read field by field, to name every fault and to be quick. A test holds the two together. */
export const NewTokenDocument: TSchema = Type.Unsafe({ title: 'TokenCreate', oneOf: TOKEN_TYPES.map(newTokenOf) });

export const TokenPatchDocument: TSchema = Type.Object(
  {
    type: optional(Type.Enum([...TOKEN_TYPES]), 'May be repeated, and not be changed'),
    data: Type.Optional(ref('JsonPresent')),
    ...writtenFields(),
  },
  { title: 'TokenPatch' },
);

const ASKS_FOR_A_TOKEN = { required: ['type', 'data'], properties: { type: { type: 'string' } } };

/** Any JSON in which some objects ask for a token. */
export const TOKENIZE_COMPONENTS: Readonly<Record<string, TSchema>> = {
  TokenizeValue: Type.Unsafe({
    description: 'A request for a token, a value to make a token of, or an object or array of these',
    anyOf: [
      Type.String(),
      SAFE_NUMBER,
      Type.Boolean(),
      { type: 'null' },
      arrayOf('TokenizeValue'),
      { allOf: [NewTokenDocument, { type: 'object', ...ASKS_FOR_A_TOKEN }] },
      { type: 'object', not: ASKS_FOR_A_TOKEN, additionalProperties: ref('TokenizeValue') },
    ],
  }),
};
