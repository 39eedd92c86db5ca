import type { Budget } from './budget.js';
import { applyOwnFilter, OWN_FILTERS } from './own-filters.js';
import { readMember } from './values.js';

/** An output that is a path and filters of ours with literal arguments: most masks and indexes, and no case for Liquid. */
export interface PlainForm {
  readonly path: readonly string[];
  readonly filters: readonly PlainFilter[];
}

interface PlainFilter {
  readonly name: string;
  readonly args: readonly (string | number | boolean)[];
}

const UNITS = 200;
const OPENING = /\{\{[ \t\r\n]*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)[ \t\r\n]*/y;
const CLOSING = /\}\}$/y;
const FILTER = /\|[ \t\r\n]*([a-z_]\w*)[ \t\r\n]*/y;
const ARGUMENT = /[:,][ \t\r\n]*(?:'([^'\\]*)'|"([^"\\]*)"|(-?\d{1,15}(?:\.\d{1,15})?)|(true|false))[ \t\r\n]*/y;
/** Words that mean something else to Liquid at the beginning of a value. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['true', 'false', 'nil', 'null', 'empty', 'blank', 'not', 'and', 'or', 'contains', 'size'],
]);

/** Undefined for whatever is not of the form, be it right or wrong: that is for Liquid to say. */
export function parsePlainForm(text: string): PlainForm | undefined {
  let at = 0;
  function match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  }

  const path = match(OPENING)?.[1]?.split('.');
  if (path === undefined || RESERVED.has(path[0] ?? '')) return undefined;
  const filters: PlainFilter[] = [];
  while (true) {
    const name = match(FILTER)?.[1];
    if (name === undefined) break;
    if (!OWN_FILTERS.has(name)) return undefined;
    const args: (string | number | boolean)[] = [];
    while (text[at] === (args.length === 0 ? ':' : ',')) {
      const found = match(ARGUMENT);
      if (found === null) return undefined;
      const [, single, double, number, flag] = found;
      args.push(single ?? double ?? (number === undefined ? flag === 'true' : Number(number)));
    }
    filters.push({ name, args });
  }
  return match(CLOSING) === null ? undefined : { path, filters };
}

export function evaluatePlainForm(
  form: PlainForm,
  variables: Readonly<Record<string, unknown>>,
  budget: Budget,
): unknown {
  budget.spend(UNITS);
  const [first = '', ...rest] = form.path;
  let value: unknown = Object.hasOwn(variables, first) ? variables[first] : undefined;
  for (const name of rest) value = readMember(value, name);
  for (const { name, args } of form.filters) {
    const filter = OWN_FILTERS.get(name);
    if (filter !== undefined) value = applyOwnFilter(name, filter, value, args, budget);
  }
  return value;
}
