import type { Json } from '../../kernel/json.js';
import type { Privacy } from '../stored/content.js';
import type { TokenType } from '../types/names.js';

/** A token somebody asked for, checked as far as that goes without evaluating an expression. */
export interface NewToken {
  /** A good id, or an expression whose outcome has yet to be checked. */
  readonly id: string | undefined;
  readonly type: TokenType;
  readonly data: Json;
  readonly mask: Json | undefined;
  readonly containers: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly searchIndexes: readonly string[] | undefined;
  readonly fingerprintExpression: string | undefined;
  readonly deduplicate: boolean | undefined;
  readonly expiresAtMs: number | undefined;
  readonly privacy: Privacy;
  readonly encryption: Json | undefined;
}
