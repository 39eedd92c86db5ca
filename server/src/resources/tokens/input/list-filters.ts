import type { FieldErrors } from '../../../kernel/errors.js';
import { hasForbiddenCharacters } from '../../../kernel/text.js';
import type { Filters } from '../../../vault/index.js';

export const VALUES_MAX = 100;
const DOTTED = /^metadata\.(.+)$/s;
const BRACKETED = /^metadata\[(.+)\]$/s;

type Parameters = ReadonlyMap<string, readonly string[]>;

/** Reads what narrows a list of tokens. Metadata has no fixed names, so no schema could list them. */
export function readListFilters(parameters: Parameters, errors: FieldErrors): Filters {
  const metadata = readMetadata(parameters, errors);
  const [fingerprint, ...more] = given(parameters, 'fingerprint', errors) ?? [];
  if (more.length > 0) errors.fingerprint = ['must be given only once'];
  const ids = given(parameters, 'id', errors);
  const types = given(parameters, 'type', errors);
  const containers = given(parameters, 'container', errors);
  return {
    ...(ids && { ids }),
    ...(types && { types }),
    ...(containers && { containers }),
    ...(metadata.length > 0 && { metadata }),
    ...(fingerprint !== undefined && { fingerprint }),
  };
}

function given(parameters: Parameters, name: string, errors: FieldErrors): readonly string[] | undefined {
  const values = parameters.get(name)?.filter((value) => value !== '') ?? [];
  if (values.some(hasForbiddenCharacters)) errors[name] = ['must not hold NUL or unpaired surrogates'];
  if (values.length > VALUES_MAX) errors[name] = [`must be given at most ${VALUES_MAX} times`];
  return values.length === 0 ? undefined : values;
}

/** `metadata.k=v`, `metadata[k]=v` and `metadata={"k":"v"}` all say the same. */
function readMetadata(parameters: Parameters, errors: FieldErrors): [string, string][] {
  const pairs: [string, string][] = [];
  for (const [name, values] of parameters) {
    const [, key] = DOTTED.exec(name) ?? BRACKETED.exec(name) ?? [];
    for (const value of values.filter((each) => each !== '')) {
      if (key !== undefined) pairs.push([key, value]);
      else if (name === 'metadata') pairs.push(...readObject(value, errors));
    }
  }
  if (pairs.some((pair) => pair.some(hasForbiddenCharacters))) {
    errors.metadata = ['must not hold NUL or unpaired surrogates'];
  }
  if (pairs.length > VALUES_MAX) errors.metadata = [`must name at most ${VALUES_MAX} entries`];
  return pairs;
}

function readObject(text: string, errors: FieldErrors): [string, string][] {
  const pairs = entriesOf(text);
  if (pairs) return pairs;
  errors.metadata = ['must be a JSON object whose values are strings, or written as metadata.<key>=<value>'];
  return [];
}

function entriesOf(text: string): [string, string][] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string') ? entries : undefined;
}
