import { AppError } from '../../../kernel/errors.js';

export function tooManyTokens(max: number): AppError {
  return new AppError('too_many_tokens', `One request may be about at most ${max} tokens. Split it into several.`);
}
