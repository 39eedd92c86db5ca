import type { Budget } from './budget.js';

const MATCH_UNITS = 20;

/**
 * What looking for one text in another can cost. The platform's search degrades to length times length when both repeat
 * one character, so the product is what is paid.
 */
export function spendOnSearch(text: string, part: string, budget: Budget): void {
  budget.spend(text.length + (text.length * Math.min(part.length, text.length)) / 8);
}

/** Pays for every match before anything is built of them. An empty text is found between all characters. */
export function spendOnMatches(text: string, part: string, budget: Budget, replacementLength = 0): void {
  spendOnSearch(text, part, budget);
  const units = MATCH_UNITS + replacementLength;
  if (part === '') {
    budget.spend(text.length * units);
    return;
  }
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) budget.spend(units);
}
