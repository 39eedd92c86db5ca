import { AppError } from '../../kernel/errors.js';

export function tooManyTokens(max: number): AppError {
  return new AppError('too_many_tokens', `One request may be about at most ${max} tokens. Split it into several.`);
}

export function unknownTokens(ids: readonly string[]): AppError {
  return new AppError('unknown_token', `There are no tokens with these ids: ${ids.join(', ')}.`);
}
