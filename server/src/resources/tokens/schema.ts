import type { Static } from 'typebox';
import Type from 'typebox';
import { DateTime, named, Uuid } from '../../http/schema.js';
import { CLASSIFICATIONS, IMPACT_LEVELS, RESTRICTION_POLICIES } from './stored/content.js';
import { TOKEN_TYPES } from './types/names.js';

const Anything = Type.Unknown({ description: 'Any JSON' });

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
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
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

export type TokenBody = Static<typeof TokenBody>;
