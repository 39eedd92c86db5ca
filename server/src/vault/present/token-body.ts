import type { Json } from '../../kernel/json.js';
import type { Privacy } from '../stored/content.js';
import type { TokenType } from '../types/names.js';

/**
 * A token as a caller gets to see it, under the names it has in JSON. A member without a value is left out where the answer
 * is written. Whoever may not read the token that deduplication found sees nothing from `metadata` on.
 */
export interface PresentedToken {
  readonly id: string;
  readonly type: TokenType;
  readonly tenant_id: string;
  readonly data?: Json | undefined;
  readonly mask?: Json | undefined;
  readonly containers: string[];
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly search_indexes?: string[] | undefined;
  readonly fingerprint_expression?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly expires_at?: string | undefined;
  readonly privacy?: Privacy | undefined;
  readonly encryption?: Json | undefined;
  readonly created_by?: string | undefined;
  readonly created_at?: string | undefined;
  readonly modified_by?: string | undefined;
  readonly modified_at?: string | undefined;
}

/** What is told of a token to people, who see nothing that it holds: no data, mask, fingerprint, expression or index. */
export type TokenDescription = Pick<
  PresentedToken,
  'id' | 'type' | 'tenant_id' | 'containers' | 'metadata' | 'created_by' | 'modified_by' | 'modified_at' | 'expires_at'
> & { readonly created_at: string };
