import type { SharedDefinition } from './kind.js';

const FIXED_BYTES = 1_024;
/** At most, of a character of text in memory. */
const CHARACTER_BYTES = 2;

/** About what a definition takes in memory. From lengths alone: it is asked for whenever one comes or goes. */
export function bytesOfTexts(texts: readonly string[], configuration: SharedDefinition['configuration']): number {
  let characters = 0;
  for (const text of texts) characters += text.length;
  for (const [key, value] of Object.entries(configuration)) characters += key.length + value.length;
  return FIXED_BYTES + CHARACTER_BYTES * characters;
}
