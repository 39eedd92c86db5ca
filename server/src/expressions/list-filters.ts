import type { Budget } from './budget.js';
import { endOfFirst, startOfLast } from './code-points.js';
import { invalidExpression } from './faults.js';
import { spendOnMatches } from './search-cost.js';
import { readCost } from './sizes.js';
import { isNil, readPath, textOf } from './values.js';

/**
 * Liquid's filters for lists, written here because the library's own turn elements into text, read paths out of text or
 * sort by conversion without counting any of it. Input and arguments are plain values.
 */
export type ListFilter = (input: unknown, args: readonly unknown[], budget: Budget) => unknown;

const ITEM_UNITS = 10;
const PATH_UNITS = 60;
const COMPARISON_UNITS = 12;
const PATH_LENGTH_MAX = 200;

export const LIST_FILTERS: Readonly<Record<string, ListFilter>> = {
  first: (input) => (typeof input === 'string' ? input.slice(0, endOfFirst(input, 1)) : listOf(input)[0]),
  last: (input) => (typeof input === 'string' ? input.slice(startOfLast(input, 1)) : listOf(input).at(-1)),
  size: (input) => (typeof input === 'string' || Array.isArray(input) ? input.length : 0),
  reverse: (input, _args, budget) => paidList(input, budget).toReversed(),
  compact: (input, _args, budget) => paidList(input, budget).filter((item) => !isNil(item)),
  uniq: (input, _args, budget) => {
    budget.spend(readCost(input, budget));
    return [...new Set(paidList(input, budget))];
  },
  concat: (input, [other], budget) => [...paidList(input, budget), ...paidList(other, budget)],
  join: (input, args, budget) => {
    const list = paidList(input, budget);
    const separator = args.length === 0 ? ' ' : textOf(args[0], budget);
    budget.spend(list.length * separator.length);
    const texts = list.map((item) => textOf(item, budget));
    budget.spend(texts.reduce((length, text) => length + text.length, 0));
    return texts.join(separator);
  },
  split: (input, [separator], budget) => {
    const text = textOf(input, budget);
    const by = textOf(separator, budget);
    spendOnMatches(text, by, budget);
    const parts = text.split(by);
    while (parts.at(-1) === '') parts.pop();
    return parts;
  },
  slice: (input, [begin, length], budget) => slice(input, Number(begin), isNil(length) ? 1 : Number(length), budget),
  map: (input, [path], budget) => valuesBelow(paidList(input, budget), path, budget).map((value) => value ?? null),
  sum: (input, [path], budget) =>
    valuesBelow(paidList(input, budget), path, budget).reduce<number>((sum, value) => sum + numberOf(value, budget), 0),
  sort: (input, [path], budget) => sort(paidList(input, budget), path, (key) => key, budget),
  sort_natural: (input, [path], budget) =>
    sort(paidList(input, budget), path, (key) => (isNil(key) ? key : String(key).toLowerCase()), budget),
  where: (input, args, budget) => {
    const isMatch = matches(input, args, budget);
    return listOf(input).filter((_item, at) => isMatch[at]);
  },
  reject: (input, args, budget) => {
    const isMatch = matches(input, args, budget);
    return listOf(input).filter((_item, at) => !isMatch[at]);
  },
  find: (input, args, budget) => listOf(input)[matches(input, args, budget).indexOf(true)],
  find_index: (input, args, budget) => {
    const at = matches(input, args, budget).indexOf(true);
    return at === -1 ? undefined : at;
  },
  has: (input, args, budget) => matches(input, args, budget).includes(true),
};

function listOf(input: unknown): readonly unknown[] {
  if (isNil(input)) return [];
  return Array.isArray(input) ? input : [input];
}

function paidList(input: unknown, budget: Budget): readonly unknown[] {
  const list = listOf(input);
  budget.spend(list.length * ITEM_UNITS);
  return list;
}

function valuesBelow(list: readonly unknown[], path: unknown, budget: Budget): readonly unknown[] {
  if (isNil(path)) return list;
  if (typeof path !== 'string' || path.length > PATH_LENGTH_MAX) {
    throw invalidExpression('A filter for lists takes the name of a member, or a path such as a.b.');
  }
  budget.spend(list.length * (PATH_UNITS + path.length));
  return list.map((item) => readPath(item, path));
}

function matches(input: unknown, args: readonly unknown[], budget: Budget): readonly boolean[] {
  const [path, expected] = args;
  const values = valuesBelow(paidList(input, budget), path, budget);
  if (args.length < 2) return values.map((value) => !isNil(value) && value !== false);
  if (typeof expected === 'string') budget.spend((values.length * expected.length) / 8);
  return values.map((value) => value === expected || (isNil(value) && isNil(expected)));
}

function numberOf(value: unknown, budget: Budget): number {
  if (typeof value === 'string') budget.spend(value.length);
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : 0;
  return Number.isNaN(number) ? 0 : number;
}

/** Text or numbers only: comparing lists or objects would write each of them out for every comparison. */
function sort(
  list: readonly unknown[],
  path: unknown,
  keyOf: (key: string | number | boolean | null | undefined) => string | number | boolean | null | undefined,
  budget: Budget,
): readonly unknown[] {
  const rounds = Math.ceil(Math.log2(list.length + 1)) + 1;
  const entries = valuesBelow(list, path, budget).map((key, at) => {
    if (!isNil(key) && typeof key !== 'string' && typeof key !== 'number' && typeof key !== 'boolean') {
      throw invalidExpression('Lists are sorted by text or numbers; name the member to sort by.');
    }
    budget.spend(rounds * (COMPARISON_UNITS + (typeof key === 'string' ? key.length >> 2 : 0)));
    return { item: list[at], key: keyOf(key) };
  });
  return entries.sort((one, other) => order(one.key, other.key)).map(({ item }) => item);
}

/** Absent keys go last. */
function order(
  one: string | number | boolean | null | undefined,
  other: string | number | boolean | null | undefined,
): number {
  if (isNil(one) || isNil(other)) return Number(isNil(one)) - Number(isNil(other));
  if (one < other) return -1;
  return one > other ? 1 : 0;
}

function slice(input: unknown, begin: number, length: number, budget: Budget): unknown {
  if (Number.isNaN(begin) || Number.isNaN(length)) throw invalidExpression('The filter slice takes whole numbers.');
  if (Array.isArray(input)) {
    const list = paidList(input, budget);
    const from = begin < 0 ? list.length + begin : begin;
    return from < 0 || length < 0 ? [] : list.slice(from, from + length);
  }
  const text = textOf(input, budget);
  budget.spend(text.length * 3);
  const from = begin < 0 ? startOfLast(text, -begin) : endOfFirst(text, begin);
  const rest = text.slice(from);
  return length < 0 ? '' : rest.slice(0, endOfFirst(rest, length));
}
