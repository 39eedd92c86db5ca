import type { FilterImplOptions } from 'liquidjs';
import { filters, toValue } from 'liquidjs';
import type { Budget } from './budget.js';
import { invalidExpression } from './faults.js';
import { LIST_FILTERS } from './list-filters.js';
import { spendOnMatches, spendOnSearch } from './search-cost.js';
import { textOf } from './values.js';

/** A filter as Liquid calls it, with the plain values of its input and arguments. */
export type StandardFilter = (call: FilterCall, input: unknown, args: readonly unknown[], budget: Budget) => unknown;

/** What the library's filters expect as `this`. */
export type FilterCall = ThisParameterType<Extract<FilterImplOptions, (...args: never) => unknown>>;

type LibraryFilter = (this: FilterCall, input: unknown, ...args: readonly unknown[]) => unknown;

const NUMBER_UNITS = 40;
const DATE_UNITS = 2_000;
/** A name of a month or day costs the making of a formatter. */
const DATE_FIELD_UNITS = 20_000;
const DATE_ZONE_UNITS = 100_000;
const DATE_LENGTH_MAX = 64;

const NUMBER_FILTERS = [
  ...['abs', 'at_least', 'at_most', 'ceil', 'divided_by', 'floor', 'minus', 'plus', 'modulo', 'times', 'round'],
];

/** Filters for text, with the units a character of input costs in the worst case. */
const TEXT_FILTERS: Readonly<Record<string, number>> = {
  append: 1,
  prepend: 1,
  downcase: 6,
  upcase: 6,
  capitalize: 6,
  strip: 2,
  lstrip: 2,
  rstrip: 2,
  strip_newlines: 20,
  squish: 30,
  newline_to_br: 20,
  escape: 30,
  escape_once: 60,
  truncate: 2,
  truncatewords: 30,
  url_encode: 30,
  url_decode: 30,
  base64_encode: 2,
  base64_decode: 10,
};

/** These look for their first argument in the input. */
const FIRST_MATCH_FILTERS = ['replace_first', 'replace_last', 'remove_first', 'remove_last'];

/**
 * Liquid's standard filters, each paying for its work before it is done. Left out of the library: what evaluates text as
 * an expression (`where_exp` and its kin), what nests lists in themselves (`push`), what is random (`sample`).
 */
export function standardFilters(): ReadonlyMap<string, StandardFilter> {
  const table = new Map<string, StandardFilter>();
  for (const [name, filter] of Object.entries(LIST_FILTERS)) {
    table.set(name, (_call, input, args, budget) => filter(input, args, budget));
  }
  for (const name of NUMBER_FILTERS) table.set(name, numberFilter(library(name)));
  for (const [name, units] of Object.entries(TEXT_FILTERS)) table.set(name, textFilter(library(name), units));
  for (const name of FIRST_MATCH_FILTERS) {
    table.set(
      name,
      searchFilter(library(name), (text, [part = ''], budget) => spendOnSearch(text, part, budget)),
    );
  }
  const everyMatch = (text: string, [part = '', by = '']: readonly string[], budget: Budget): void =>
    spendOnMatches(text, part, budget, by.length);
  table.set('replace', searchFilter(library('replace'), everyMatch));
  table.set('remove', searchFilter(library('remove'), everyMatch));
  table.set(
    'strip_html',
    searchFilter(library('strip_html'), (text, _args, budget) => stripCost(text, budget)),
  );
  table.set('default', (call, input, args) => library('default').call(call, input, ...args));
  table.set('date', dateFilter(library('date')));
  return table;
}

function library(name: string): LibraryFilter {
  const filter: FilterImplOptions | undefined = filters[name as keyof typeof filters];
  if (typeof filter !== 'function') throw new Error(`the template library has no filter ${name}`);
  return filter;
}

/** Lists and objects count as 0: converting them to numbers would write them out as text first. */
function numberFilter(apply: LibraryFilter): StandardFilter {
  return (call, input, args, budget) => {
    const operands = [input, ...args].map((value) => {
      if (typeof value === 'string') budget.spend(value.length);
      return typeof value === 'object' && value !== null ? 0 : value;
    });
    budget.spend(NUMBER_UNITS);
    return apply.call(call, operands[0], ...operands.slice(1));
  };
}

function textFilter(apply: LibraryFilter, unitsPerCharacter: number): StandardFilter {
  return (call, input, args, budget) => {
    const text = textOf(input, budget);
    const values = args.map((value) => (typeof value === 'number' ? value : textOf(value, budget)));
    const length = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
    budget.spend((text.length + length) * unitsPerCharacter);
    return apply.call(call, text, ...values);
  };
}

function searchFilter(
  apply: LibraryFilter,
  pay: (text: string, args: readonly string[], budget: Budget) => void,
): StandardFilter {
  return (call, input, args, budget) => {
    const text = textOf(input, budget);
    const values = args.map((value) => textOf(value, budget));
    pay(text, values, budget);
    return apply.call(call, text, ...values);
  };
}

function stripCost(text: string, budget: Budget): void {
  spendOnMatches(text, '<', budget, 60);
}

/** Dates given, never the present: an expression has no clock. */
function dateFilter(apply: LibraryFilter): StandardFilter {
  return (call, input, args, budget) => {
    const isShortText = [input, ...args].every(
      (value) => typeof value === 'number' || textOf(value, budget).length <= DATE_LENGTH_MAX,
    );
    if (input === 'now' || input === 'today' || !isShortText || (typeof input === 'object' && input !== null)) {
      throw invalidExpression('The filter date works on a given date in short text or seconds, not on the present.');
    }
    const format = toValue(args[0]);
    const fields = typeof format === 'string' ? format.split('%').length : 10;
    budget.spend(DATE_UNITS + fields * DATE_FIELD_UNITS + (args.length > 1 ? DATE_ZONE_UNITS : 0));
    return apply.call(call, input, ...args);
  };
}
