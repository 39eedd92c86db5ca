import type { Json } from '../../kernel/json.js';
import type { TokenType } from '../types/names.js';

export const CLASSIFICATIONS = ['general', 'bank', 'pci', 'pii'] as const;
export const IMPACT_LEVELS = ['low', 'moderate', 'high'] as const;
export const RESTRICTION_POLICIES = ['mask', 'redact'] as const;

export interface Privacy {
  readonly classification: (typeof CLASSIFICATIONS)[number];
  readonly impact_level: (typeof IMPACT_LEVELS)[number];
  readonly restriction_policy: (typeof RESTRICTION_POLICIES)[number];
}

/** What a token says: all of it is stored as one sealed record. */
export interface TokenContent {
  readonly type: TokenType;
  readonly data: Json;
  /** In the order they were given, lower case. */
  readonly containers: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** As written; undefined for the type's own. */
  readonly mask: Json | undefined;
  /** As written; undefined for the type's own. */
  readonly searchIndexes: readonly string[] | undefined;
  /** As written; undefined for the type's own. */
  readonly fingerprintExpression: string | undefined;
  readonly privacy: Privacy;
  readonly encryption: Json | undefined;
}
