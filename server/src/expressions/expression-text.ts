import { codePointLength } from '../kernel/text.js';

export const EXPRESSION_LENGTH_MAX = 400;

/** Whether an id is to be evaluated rather than taken as it is. */
export function isIdExpression(text: string): boolean {
  return text.includes('{{');
}

/** Whether text has something to evaluate: an output or a tag. */
export function holdsExpression(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

/** Looks at the length alone: whether it parses is for the evaluation to say. */
export function expressionFault(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  if (codePointLength(text) <= EXPRESSION_LENGTH_MAX) return undefined;
  return `must be at most ${EXPRESSION_LENGTH_MAX} characters long`;
}
