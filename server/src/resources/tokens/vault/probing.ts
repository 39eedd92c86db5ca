import { isDeepStrictEqual } from 'node:util';
import type { Principal } from '../../../access/principal.js';
import type { Transform } from '../../../access/rules.js';
import { AppError } from '../../../kernel/errors.js';
import { mergePatch } from '../input/merge-patch.js';
import type { TokenPatch } from '../input/token-patch.js';
import type { TokenContent } from '../stored/content.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';

/**
 * Whoever writes a mask, a fingerprint expression or an index decides what data is shown or can be compared. A public key
 * and a session are in strangers' hands, and the tokens they may change are other people's: for them that takes a grant
 * that reveals the data anyway. A private Application that may update tokens is trusted with it.
 */
export function refuseProbing(
  { actor, applicationType }: Principal,
  transform: Transform,
  content: TokenContent,
  patch: TokenPatch,
): void {
  const isInStrangersHands = actor.type === 'session' || applicationType === 'public';
  if (transform === 'reveal' || !isInStrangersHands || !changesExpressions(content, patch)) return;
  throw new AppError(
    'access_denied',
    'Changing mask, fingerprint_expression or search_indexes takes an access rule that reveals the data. Leave them out, or ask for such a rule.',
  );
}

/** Going back to what the type has shows nothing new, and neither does repeating what is there. */
function changesExpressions(content: TokenContent, patch: TokenPatch): boolean {
  const ofType = TOKEN_TYPE_CATALOGUE[content.type];
  const mask = content.mask ?? ofType.mask;
  const isOther = (given: unknown, stored: unknown): boolean =>
    given !== undefined && given !== null && !isDeepStrictEqual(given, stored);
  return (
    (patch.mask !== undefined && patch.mask !== null && !isDeepStrictEqual(mergePatch(mask, patch.mask), mask)) ||
    isOther(patch.fingerprintExpression, content.fingerprintExpression) ||
    isOther(patch.searchIndexes, content.searchIndexes ?? ofType.searchIndexes)
  );
}
