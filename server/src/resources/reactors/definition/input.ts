import { validationFailed } from '../../../kernel/errors.js';
import type { Faults } from '../../../kernel/field-faults.js';
import { addFault, faultsUnder, memberPath } from '../../../kernel/field-faults.js';
import { isUuid } from '../../../kernel/ids.js';
import type { Json } from '../../../kernel/json.js';
import type { JsonObject } from '../../../kernel/json-object.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import { codePointLength, hasForbiddenCharacters, isBlank } from '../../../kernel/text.js';
import { CODE_LENGTH_MAX, ENTRIES_MAX, KEY_PATTERN, NAME_LENGTH_MAX, SETTING_LENGTH_MAX } from '../schema.js';
import type { Configuration, ReactorDefinition } from './content.js';
import { sizeOf } from './content.js';

/** Entries with null go. */
type ConfigurationPatch = Readonly<Record<string, string | null>>;

/** A change: what is undefined stays, what is null goes. */
export interface ReactorPatch {
  readonly name: string | undefined;
  readonly code: string | undefined;
  readonly configuration: ConfigurationPatch | null | undefined;
  readonly applicationId: string | null | undefined;
}

/** As much as a body can hold, so that a Reactor made of many changes is none that could not be sent at once. */
const BYTES_MAX = 1_048_576;
const KEY = new RegExp(KEY_PATTERN);
const TOO_MANY_ENTRIES = `must have at most ${ENTRIES_MAX} entries`;
export const NO_SUCH_APPLICATION = 'must be the id of a public or private Application of this Tenant';

/** A whole Reactor, as POST and PUT take it. */
export function readReactor(body: unknown): ReactorDefinition {
  const { given, faults } = objectOf(body);
  for (const field of ['name', 'code']) {
    if ((given[field] ?? null) === null) addFault(faults, field, 'is required');
  }
  const patch = readFields(given, faults);
  if (faults.count > 0) throw validationFailed(faults.errors);
  return applyReactorPatch({ name: '', code: '', configuration: {}, applicationId: null }, patch);
}

/** A change by merge patch (RFC 7386). */
export function readReactorPatch(body: unknown): ReactorPatch {
  const { given, faults } = objectOf(body);
  for (const field of ['name', 'code']) {
    if (given[field] === null) addFault(faults, field, 'cannot be removed');
  }
  const patch = readFields(given, faults);
  if (faults.count > 0) throw validationFailed(faults.errors);
  return patch;
}

/** What a trial run gets; what is left out is the Reactor's own. */
export interface TrialInput {
  readonly code: string | undefined;
  readonly configuration: Configuration | undefined;
  readonly args: Json;
}

/** Without a Reactor there is no code but what is sent. */
export function readTrial(body: unknown, hasReactor: boolean): TrialInput {
  const { given, faults } = objectOf(body);
  if (!hasReactor && !isGiven(given.code)) addFault(faults, 'code', 'is required');
  const { code, configuration } = readFields(
    { code: given.code ?? null, configuration: given.configuration ?? null },
    faults,
  );
  if (faults.count > 0) throw validationFailed(faults.errors);
  return {
    code,
    configuration: isGiven(given.configuration) ? merged({}, configuration) : undefined,
    args: given.args ?? {},
  };
}

/** What a Reactor says after a change; 400 if that is more than one may say. */
export function applyReactorPatch(before: ReactorDefinition, patch: ReactorPatch): ReactorDefinition {
  const after = {
    name: patch.name ?? before.name,
    code: patch.code ?? before.code,
    configuration: merged(before.configuration, patch.configuration),
    applicationId: patch.applicationId === undefined ? before.applicationId : patch.applicationId,
  };
  if (Object.keys(after.configuration).length > ENTRIES_MAX) {
    throw validationFailed({ configuration: [TOO_MANY_ENTRIES] });
  }
  if (sizeOf(after) > BYTES_MAX) throw validationFailed({ $: ['must have at most 1 MiB of code and configuration'] });
  return after;
}

function merged(before: Configuration, patch: ConfigurationPatch | null | undefined): Configuration {
  if (patch === undefined) return before;
  const entries = new Map<string, string | null>(patch === null ? [] : Object.entries(before));
  for (const [key, value] of Object.entries(patch ?? {})) entries.set(key, value);
  return Object.fromEntries([...entries].filter((entry): entry is [string, string] => entry[1] !== null));
}

function objectOf(body: unknown): { readonly given: JsonObject; readonly faults: Faults } {
  if (!isJsonObject(body)) throw validationFailed({ $: ['must be an object'] });
  return { given: body, faults: faultsUnder({}, '') };
}

function readFields(given: JsonObject, faults: Faults): ReactorPatch {
  const { name, code, configuration, application } = given;
  return {
    name: textOf(name, 'name', NAME_LENGTH_MAX, faults),
    code: textOf(code, 'code', CODE_LENGTH_MAX, faults),
    configuration: isGiven(configuration) ? readConfiguration(configuration, faults) : configuration,
    applicationId: isGiven(application) ? readApplication(application, faults) : application,
  };
}

function isGiven(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null;
}

function textOf(value: Json | undefined, field: string, lengthMax: number, faults: Faults): string | undefined {
  if (!isGiven(value)) return undefined;
  const message = textFault(value, lengthMax) ?? (field === 'name' ? nameFault(value) : undefined);
  if (message === undefined) return String(value);
  addFault(faults, field, message);
  return undefined;
}

function textFault(value: Json, lengthMax: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'must not be empty';
  return codePointLength(value) > lengthMax ? `must be at most ${lengthMax} characters long` : undefined;
}

function nameFault(value: Json): string | undefined {
  const name = String(value);
  if (!isBlank(name) && !hasForbiddenCharacters(name)) return undefined;
  return 'must not be blank and must not hold NUL or unpaired surrogates';
}

function readConfiguration(value: Json, faults: Faults): ConfigurationPatch {
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

/** Other members are ignored: an Application may be sent as it was shown. */
function readApplication(value: Json, faults: Faults): string | undefined {
  if (!isJsonObject(value)) {
    addFault(faults, 'application', 'must be an object with an id');
    return undefined;
  }
  const id = value.id ?? null;
  if (typeof id === 'string' && isUuid(id)) return id.toLowerCase();
  addFault(faults, 'application.id', id === null ? 'is required' : NO_SUCH_APPLICATION);
  return undefined;
}
