import type { Static } from 'typebox';
import Type from 'typebox';
import { CursorQuery, cursorListOf, OffsetQuery, offsetListOf } from '../../http/paging/pages.js';
import { DateTime, named, text, Uuid } from '../../http/routes/schema.js';
import type { PresentedToken } from '../../vault/index.js';
import { CLASSIFICATIONS, IMPACT_LEVELS, RESTRICTION_POLICIES, TOKEN_TYPES } from '../../vault/index.js';
import { VALUES_MAX } from './input/list-filters.js';

const Anything = Type.Unknown({ description: 'Any JSON' });

/** Names of any text. The pattern is spelled out, because the one a plain string gives leaves out names with line breaks. */
const Metadata = Type.Record(Type.String({ pattern: '^[\\s\\S]*$' }), Type.String());

export const PrivacyBody = named('TokenPrivacy', {
  classification: Type.Enum([...CLASSIFICATIONS]),
  impact_level: Type.Enum([...IMPACT_LEVELS]),
  restriction_policy: Type.Enum([...RESTRICTION_POLICIES]),
});

export const TokenBody = named('Token', {
  id: Type.String({ examples: ['8ac6c1d5-7f0b-4d3d-8c2a-3a0f8f6f2d10'] }),
  type: Type.Enum([...TOKEN_TYPES]),
  tenant_id: Uuid,
  data: Type.Optional(Anything),
  mask: Type.Optional(Anything),
  containers: Type.Array(Type.String(), { examples: [['/pci/high/']] }),
  metadata: Type.Optional(Metadata),
  search_indexes: Type.Optional(Type.Array(Type.String())),
  fingerprint_expression: Type.Optional(Type.String()),
  fingerprint: Type.Optional(Type.String()),
  expires_at: Type.Optional(DateTime),
  // A caller who may not read the token that deduplication found sees neither this nor anything below it.
  privacy: Type.Optional(PrivacyBody),
  encryption: Type.Optional(Anything),
  created_by: Type.Optional(Uuid),
  created_at: Type.Optional(DateTime),
  modified_by: Type.Optional(Uuid),
  modified_at: Type.Optional(DateTime),
});

type Declared = Static<typeof TokenBody>;

/** What is optional may also be there without a value: it is then left out of the answer. */
type Loose = {
  readonly [Name in keyof Declared]: Declared[Name] | (object extends Pick<Declared, Name> ? undefined : never);
};

/** Compiles only while what the vault presents fits the schema above, and has every member of it. */
type HeldEqual<Body extends Loose, Names extends keyof Body> = Pick<Body, Names>;
export type TokenBody = HeldEqual<PresentedToken, keyof Declared>;

const repeatable = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { description, maxItems: VALUES_MAX }));

export const ListFiltersDocument = Type.Object({
  id: repeatable('Only these ids'),
  type: repeatable('Only these types'),
  container: repeatable('Only tokens in one of these containers'),
  metadata: Type.Optional(
    Type.String({
      description: 'Only tokens with this metadata: a JSON object, or as `metadata.<key>=<value>`, as often as needed',
    }),
  ),
});

export const ListV2FiltersDocument = Type.Object({
  ...ListFiltersDocument.properties,
  fingerprint: Type.Optional(Type.String({ description: 'Only tokens with this fingerprint' })),
});

const QUERY = Type.Optional(
  text({ maxLength: 1_000, description: 'What to look for; empty or left out: all tokens', examples: ['type:card'] }),
);

export const SearchBody = Type.Object({ query: QUERY, ...OffsetQuery }, { title: 'TokenSearch' });
export const SearchV2Body = Type.Object({ query: QUERY, ...CursorQuery }, { title: 'TokenSearchV2' });
export const ListQuery = Type.Object({ ...OffsetQuery });
export const ListV2Query = Type.Object({ ...CursorQuery });
export const TokenList = offsetListOf('TokenList', TokenBody);
export const TokenListV2 = cursorListOf('TokenListV2', TokenBody);
