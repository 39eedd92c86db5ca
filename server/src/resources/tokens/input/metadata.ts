import type { Faults } from '../../../kernel/field-faults.js';
import { addFault, memberPath } from '../../../kernel/field-faults.js';
import type { Json } from '../../../kernel/json.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import { codePointLength, hasForbiddenCharacters } from '../../../kernel/text.js';
import type { Metadata, MetadataPatch } from '../../../vault/index.js';
import { METADATA_ENTRIES_MAX, mergeMetadata, TOO_MANY_ENTRIES } from '../../../vault/index.js';

export const KEY_LENGTH_MAX = 200;
export const VALUE_LENGTH_MAX = 2_000;

/** In a new token an entry with null counts as left out. */
export function readMetadata(value: Json, faults: Faults): Metadata {
  return mergeMetadata({}, readMetadataPatch(value, faults));
}

export function readMetadataPatch(value: Json, faults: Faults): MetadataPatch {
  if (!isJsonObject(value)) {
    addFault(faults, 'metadata', 'must be an object');
    return {};
  }
  const entries = Object.entries(value);
  const given: [string, string | null][] = [];
  for (const [key, text] of entries) {
    if (text === null || isGoodEntry(key, text, faults)) given.push([key, text]);
  }
  if (
    entries.length > METADATA_ENTRIES_MAX &&
    entries.filter(([, text]) => text !== null).length > METADATA_ENTRIES_MAX
  ) {
    addFault(faults, 'metadata', TOO_MANY_ENTRIES);
  }
  return Object.fromEntries(given);
}

function isGoodEntry(key: string, text: Json, faults: Faults): text is string {
  const before = faults.count;
  // A key that is empty or not text for certain cannot serve as a path.
  if (key === '') addFault(faults, 'metadata', 'must not have an empty key');
  else if (hasForbiddenCharacters(key)) {
    addFault(faults, 'metadata', 'must not have a key with NUL or unpaired surrogates');
  } else if (codePointLength(key) > KEY_LENGTH_MAX) {
    addFault(faults, memberPath('metadata', key), `must have a key of at most ${KEY_LENGTH_MAX} characters`);
  }
  const message = valueFault(text);
  if (message !== undefined && before === faults.count) addFault(faults, memberPath('metadata', key), message);
  return before === faults.count;
}

function valueFault(value: Json): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (codePointLength(value) > VALUE_LENGTH_MAX) return `must be at most ${VALUE_LENGTH_MAX} characters long`;
  return hasForbiddenCharacters(value) ? 'must not hold NUL or unpaired surrogates' : undefined;
}
