import { isDeepStrictEqual } from 'node:util';
import { reveals, showsMore } from '../../access/exposure.js';
import type { Principal } from '../../access/principal.js';
import { AppError } from '../../kernel/errors.js';
import type { Json } from '../../kernel/json.js';
import { isJsonObject } from '../../kernel/json-object.js';
import { isStranger } from '../present/answer.js';
import type { TokenContent } from '../stored/content.js';
import { groupIdOf } from '../stored/names.js';
import { TOKEN_TYPE_CATALOGUE } from '../types/catalogue.js';
import type { TokenPatch } from './token-patch.js';

/** One stored token before and after a change; neither has expressions evaluated. */
export interface TokenChange {
  readonly id: string;
  /** Without a verification code whose hour is over. */
  readonly before: TokenContent;
  readonly after: TokenContent;
}

/**
 * Nobody is shown more by changing a token. Whoever writes a mask, a fingerprint expression or an index decides what of the
 * data is shown or can be compared, and whoever moves a token chooses the rules it is seen by. Both take a grant that reveals
 * it anyway. New expressions are free to who brings all of the data along: then nothing stored is looked at through them.
 */
export function refuseProbing(principal: Principal, { id, before, after }: TokenChange, patch: TokenPatch): void {
  const isProbing =
    changesExpressions(before, after) && !(patch.data !== undefined && replaces(before.data, patch.data));
  const beforeKey = { id, containers: before.containers };
  const isMoved = groupIdOf(before.type, before.containers) !== groupIdOf(after.type, after.containers);
  if (!isProbing && !isMoved) return;
  // What strangers move anybody moves, among them who sees more in the other place.
  const isMovedUp =
    isMoved && (isStranger(principal) || showsMore(principal, beforeKey, { id, containers: after.containers }));
  if ((isProbing || isMovedUp) && !reveals(principal, beforeKey)) throw refusal();
}

/** One sentence for every reason: which of them it was would tell something about the stored data. */
function refusal(): AppError {
  return new AppError(
    'access_denied',
    'Changing mask, fingerprint_expression or search_indexes of stored data, or moving a token to where more of it is shown, takes an access rule that reveals the token. Ask for such a rule, or create a new token.',
  );
}

/** Whether a merge patch leaves nothing of what it is merged into: every member is given anew or taken away. */
function replaces(stored: Json, patch: Json): boolean {
  if (!isJsonObject(patch) || !isJsonObject(stored)) return true;
  return Object.entries(stored).every(([name, value]) => {
    const given = Object.hasOwn(patch, name) ? patch[name] : undefined;
    return given !== undefined && (given === null || replaces(value, given));
  });
}

/** Repeating what is there changes nothing, be it the token's own or that of its type. */
export function changesExpressions(before: TokenContent, after: TokenContent): boolean {
  const { mask, searchIndexes } = TOKEN_TYPE_CATALOGUE[before.type];
  return (
    !isDeepStrictEqual(after.mask ?? mask, before.mask ?? mask) ||
    after.fingerprintExpression !== before.fingerprintExpression ||
    !isDeepStrictEqual(after.searchIndexes ?? searchIndexes, before.searchIndexes ?? searchIndexes)
  );
}
