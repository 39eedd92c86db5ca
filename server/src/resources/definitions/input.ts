import { validationFailed } from '../../kernel/errors.js';
import type { Faults } from '../../kernel/field-faults.js';
import { addFault, faultsUnder, memberPath } from '../../kernel/field-faults.js';
import { isUuid } from '../../kernel/ids.js';
import type { Json } from '../../kernel/json.js';
import type { JsonObject } from '../../kernel/json-object.js';
import { isJsonObject } from '../../kernel/json-object.js';
import { codePointLength, hasForbiddenCharacters, isBlank } from '../../kernel/text.js';
import type { Configuration } from './kind.js';
import { CODE_LENGTH_MAX, ENTRIES_MAX, KEY_PATTERN, NAME_LENGTH_MAX, SETTING_LENGTH_MAX } from './schema.js';

/** Entries with null go. */
export type ConfigurationPatch = Readonly<Record<string, string | null>>;

/** As much as a body can hold, so that what is made of many changes is nothing that could not be sent at once. */
const BYTES_MAX = 1_048_576;
const KEY = new RegExp(KEY_PATTERN);
const TOO_MANY_ENTRIES = `must have at most ${ENTRIES_MAX} entries`;
export const NO_SUCH_APPLICATION = 'must be the id of a public or private Application of this Tenant';

export interface GivenBody {
  readonly given: JsonObject;
  readonly faults: Faults;
}

/** A body that is a whole definition; `needed` are the fields it must have. */
export function wholeBody(body: unknown, needed: readonly string[]): GivenBody {
  const whole = objectOf(body);
  for (const field of needed) {
    if (!isGiven(whole.given[field])) addFault(whole.faults, field, 'is required');
  }
  return whole;
}

/** A body that is a merge patch (RFC 7386); `needed` are the fields it cannot remove. */
export function patchBody(body: unknown, needed: readonly string[]): GivenBody {
  const patch = objectOf(body);
  for (const field of needed) {
    if (patch.given[field] === null) addFault(patch.faults, field, 'cannot be removed');
  }
  return patch;
}

export function objectOf(body: unknown): GivenBody {
  if (!isJsonObject(body)) throw validationFailed({ $: ['must be an object'] });
  return { given: body, faults: faultsUnder({}, '') };
}

export function throwFaults(faults: Faults): void {
  if (faults.count > 0) throw validationFailed(faults.errors);
}

export function isGiven(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null;
}

export function readName(value: Json | undefined, faults: Faults): string | undefined {
  return readText(value, 'name', faults, (text) => textFault(text, NAME_LENGTH_MAX) ?? nameFault(text));
}

export function readCode(value: Json | undefined, field: string, faults: Faults): string | undefined {
  return readText(value, field, faults, (text) => textFault(text, CODE_LENGTH_MAX));
}

/** Undefined where it is not given, or faulty. */
export function readText(
  value: Json | undefined,
  field: string,
  faults: Faults,
  faultOf: (value: Json) => string | undefined,
): string | undefined {
  if (!isGiven(value)) return undefined;
  const message = faultOf(value);
  if (message === undefined) return String(value);
  addFault(faults, field, message);
  return undefined;
}

export function textFault(value: Json, lengthMax: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'must not be empty';
  return codePointLength(value) > lengthMax ? `must be at most ${lengthMax} characters long` : undefined;
}

function nameFault(value: Json): string | undefined {
  const name = String(value);
  if (!isBlank(name) && !hasForbiddenCharacters(name)) return undefined;
  return 'must not be blank and must not hold NUL or unpaired surrogates';
}

export function readConfiguration(value: Json | undefined, faults: Faults): ConfigurationPatch | null | undefined {
  if (!isGiven(value)) return value;
  if (!isJsonObject(value)) {
    addFault(faults, 'configuration', 'must be an object');
    return {};
  }
  const entries = Object.entries(value);
  if (entries.filter(([, text]) => text !== null).length > ENTRIES_MAX) {
    addFault(faults, 'configuration', TOO_MANY_ENTRIES);
  }
  for (const [key, text] of entries) {
    if (!KEY.test(key)) {
      addFault(faults, 'configuration', 'must have keys of 1 to 200 letters, digits, underscores and hyphens');
      continue;
    }
    const message = text === null ? undefined : textFault(text, SETTING_LENGTH_MAX);
    if (message !== undefined) addFault(faults, memberPath('configuration', key), message);
  }
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string | null] => entry[1] === null || typeof entry[1] === 'string'),
  );
}

export function mergedConfiguration(
  before: Configuration,
  patch: ConfigurationPatch | null | undefined,
): Configuration {
  if (patch === undefined) return before;
  const entries = new Map<string, string | null>(patch === null ? [] : Object.entries(before));
  for (const [key, value] of Object.entries(patch ?? {})) entries.set(key, value);
  return Object.fromEntries([...entries].filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Throws for more than a definition may say, where it is made of several changes. */
export function checkSize(configuration: Configuration, codes: readonly (string | null)[]): void {
  if (Object.keys(configuration).length > ENTRIES_MAX) {
    throw validationFailed({ configuration: [TOO_MANY_ENTRIES] });
  }
  const bytes = codes.reduce((sum, code) => sum + Buffer.byteLength(code ?? ''), 0);
  if (bytes + Buffer.byteLength(JSON.stringify(configuration)) > BYTES_MAX) {
    throw validationFailed({ $: ['must have at most 1 MiB of code and configuration'] });
  }
}

/** Other members are ignored: an Application may be sent as it was shown. */
export function readApplication(value: Json | undefined, faults: Faults): string | null | undefined {
  if (!isGiven(value)) return value;
  if (!isJsonObject(value)) {
    addFault(faults, 'application', 'must be an object with an id');
    return undefined;
  }
  if (isGiven(value.id)) return readApplicationId(value.id, 'application.id', faults);
  addFault(faults, 'application.id', 'is required');
  return undefined;
}

export function readApplicationId(id: Json | undefined, field: string, faults: Faults): string | null | undefined {
  if (!isGiven(id)) return id;
  if (typeof id === 'string' && isUuid(id)) return id.toLowerCase();
  addFault(faults, field, NO_SUCH_APPLICATION);
  return undefined;
}
