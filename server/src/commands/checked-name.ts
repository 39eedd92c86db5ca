import { validationFailed } from '../kernel/errors.js';
import { codePointLength, hasForbiddenCharacters, isBlank } from '../kernel/text.js';

const NAME_LENGTH_MAX = 200;

/** A name as the API would take it. */
export function checkedName(name: string, flag = 'name'): string {
  if (isBlank(name) || hasForbiddenCharacters(name) || codePointLength(name) > NAME_LENGTH_MAX) {
    throw validationFailed({ [flag]: [`must be 1 to ${NAME_LENGTH_MAX} characters and not blank`] });
  }
  return name;
}
