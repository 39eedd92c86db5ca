import { codePointLength, hasForbiddenCharacters } from '../../kernel/text.js';

export const ID_LENGTH_MIN = 3;
export const ID_LENGTH_MAX = 400;

/** Characters that mean something in a path, a query, a filter or an expression. */
const FORBIDDEN_PATTERN = /[#/\\+?[\]|&=%<>{}^]/;

/** A path of its own lies where this token would be. */
export const RESERVED = 'search';

/** Also the next line, which Unicode counts as white space and `trim` does not. */
const SPACE_AT_AN_END = /^\p{White_Space}|\p{White_Space}$/u;

/** In an expression this begins the name of a whole token. */
export const WHOLE_TOKEN = 'token:';

/** What is wrong with the id of a new token, as it was given or as its expression turned out; undefined for a good one. */
export function idFault(id: string): string | undefined {
  const fault = storedIdFault(id);
  if (fault !== undefined) return fault;
  if (id.trim() !== id || SPACE_AT_AN_END.test(id)) return 'must not begin or end with white space';
  return id.startsWith(WHOLE_TOKEN) ? `must not begin with ${WHOLE_TOKEN}` : undefined;
}

/** The same as far as it holds for every token there is: some rules came later than some ids. */
export function storedIdFault(id: string): string | undefined {
  const length = codePointLength(id);
  if (length < ID_LENGTH_MIN || length > ID_LENGTH_MAX) {
    return `must be ${ID_LENGTH_MIN} to ${ID_LENGTH_MAX} characters long`;
  }
  if (FORBIDDEN_PATTERN.test(id)) return 'must not hold any of # / \\ + ? [ ] | & = % < > { } ^';
  if (id === RESERVED) return `must not be ${RESERVED}, which is a path of its own`;
  return hasForbiddenCharacters(id) ? 'must not hold NUL or unpaired surrogates' : undefined;
}
