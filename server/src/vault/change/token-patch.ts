import type { Json } from '../../kernel/json.js';
import type { JsonObject } from '../../kernel/json-object.js';
import type { GivenPrivacy } from '../make/containers.js';
import type { TokenType } from '../types/names.js';
import type { MetadataPatch } from './merge-metadata.js';

/** A change to a token. What is undefined stays, what is null goes back to its default or goes. */
export interface TokenPatch {
  /** Named by the client, for comparison alone. */
  readonly type: TokenType | undefined;
  /** To be merged. */
  readonly data: Json | undefined;
  /** To be merged. */
  readonly mask: Json | undefined;
  /** To be merged. */
  readonly metadata: MetadataPatch | null | undefined;
  readonly containers: readonly string[] | null | undefined;
  readonly searchIndexes: readonly string[] | null | undefined;
  readonly fingerprintExpression: string | null | undefined;
  readonly deduplicate: boolean | undefined;
  readonly expiresAtMs: number | null | undefined;
  readonly privacy: GivenPrivacy | null | undefined;
  readonly encryption: JsonObject | null | undefined;
}
