import type { Leaf, SearchCondition } from './condition.js';
import { ALL } from './condition.js';
import type { Group } from './directory-queries.js';
import type { TermRows } from './term-queries.js';
import { COMMON_TERM_ROWS } from './term-queries.js';

/** What leads to the tokens: each key is looked up by itself in an index that is ordered as the list is. */
export type Driver =
  | { readonly by: 'ids'; readonly keys: readonly string[] }
  | { readonly by: 'groups'; readonly keys: readonly string[] }
  | { readonly by: 'fingerprints'; readonly keys: readonly Buffer[] }
  | { readonly by: 'terms'; readonly keys: readonly Buffer[] };

type Window = Extract<Leaf, { kind: 'createdAt' | 'modifiedAt' }>;

export interface Plan {
  /** None: go through the tenant's tokens by time. Several: each finds some, and a token may be found twice. */
  readonly drivers: readonly Driver[];
  /** Bounds on the time of creation, which every index can use. */
  readonly window: readonly Window[];
  /** What remains to be asked of each token found. */
  readonly rest: SearchCondition;
}

/** Rows that may have to be read, which is what plans are compared by. */
interface Option {
  readonly drivers: readonly Driver[];
  readonly rows: number;
}

/** A guess: nothing counts fingerprints, and few tokens share one. */
const ROWS_OF_FINGERPRINT = 10;
/** A guess where a term was not looked at before. */
const ROWS_OF_TERM = 1_000;
/** A guess for a term that is common: it decides against groups that hold a smaller share of all tokens than this. */
const SHARE_OF_COMMON_TERM = 0.1;

interface Counts {
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
}

const NO_COUNTS: Counts = { counts: new Map(), total: Infinity };
/** As long as the directory is remembered. */
const countsByDirectory = new WeakMap<readonly Group[], Counts>();

function countsOf(directory: readonly Group[]): Counts {
  const known = countsByDirectory.get(directory);
  if (known) return known;
  const counts = new Map(directory.map(({ id, count }) => [id, count]));
  const made = { counts, total: sum(counts.values()) };
  countsByDirectory.set(directory, made);
  return made;
}

/** What was found out before looking for tokens. */
export interface Statistics {
  readonly directory: readonly Group[] | undefined;
  readonly termRows: TermRows;
}

/**
 * Chooses by the worst case: the number of rows that may have to be read before `wanted` of them are found. The directory
 * knows how many tokens each group has, so it tells for instance whether skipping the invisible ones on the way through
 * all of them can cost more than looking into each visible group.
 */
export function planFor(condition: SearchCondition, { directory, termRows }: Statistics, wanted: number): Plan {
  const parts = condition.kind === 'and' ? condition.parts : [condition];
  const window = parts.filter((part): part is Window => part.kind === 'createdAt');
  const rest = parts.filter((part) => part.kind !== 'createdAt');
  const { counts, total } = directory === undefined ? NO_COUNTS : countsOf(directory);
  const [only, ...more] = rest;
  const isWhole = more.length === 0;
  const skipped = only?.kind === 'groups' ? total - sum(only.groupIds.map((id) => counts.get(id) ?? 0)) : Infinity;
  let best: { part: SearchCondition | undefined; option: Option } = {
    part: undefined,
    option: { drivers: [], rows: isWhole ? Math.min(total, wanted + skipped) : total },
  };
  for (const part of rest) {
    const option = optionFor(part, isWhole ? wanted : Infinity);
    const isBetter = option !== undefined && option.rows < best.option.rows;
    if (isBetter || (option !== undefined && best.part === undefined && option.rows === best.option.rows)) {
      best = { part, option };
    }
  }
  // What one leaf found needs not be asked again; alternatives do, since each driver finds by one of them only.
  const isSettled = (part: SearchCondition): boolean => part === best.part && part.kind !== 'or' && part.kind !== 'and';
  return { drivers: best.option.drivers, window, rest: conjunction(rest.filter((part) => !isSettled(part))) };

  function optionFor(part: SearchCondition, needed: number): Option | undefined {
    switch (part.kind) {
      case 'ids':
        return { drivers: [{ by: 'ids', keys: part.ids }], rows: part.ids.length };
      case 'fingerprint':
        return { drivers: [{ by: 'fingerprints', keys: [part.fingerprint] }], rows: ROWS_OF_FINGERPRINT };
      case 'term': {
        const rows = termRows.get(part.term.toString('hex')) ?? ROWS_OF_TERM;
        const isCommon = rows >= COMMON_TERM_ROWS;
        const most = isCommon ? Math.max(rows, total * SHARE_OF_COMMON_TERM) : rows;
        return { drivers: [{ by: 'terms', keys: [part.term] }], rows: most };
      }
      case 'groups': {
        const read = sum(part.groupIds.map((id) => Math.min(counts.get(id) ?? 0, needed)));
        return { drivers: [{ by: 'groups', keys: part.groupIds }], rows: read + part.groupIds.length };
      }
      case 'and': {
        const options = part.parts.flatMap((each) => optionFor(each, Infinity) ?? []);
        return options.sort((a, b) => a.rows - b.rows)[0];
      }
      case 'or': {
        const options = part.parts.flatMap((each) => optionFor(each, needed) ?? []);
        // One alternative that no index finds makes the others useless.
        if (options.length < part.parts.length) return undefined;
        const drivers = merged(options.flatMap((option) => option.drivers));
        return { drivers, rows: sum(options.map(({ rows }) => rows)) };
      }
      default:
        return undefined;
    }
  }
}

/** One driver a kind, so that the same shape of search gives the same statement. */
function merged(drivers: readonly Driver[]): Driver[] {
  const texts = (by: 'ids' | 'groups') => drivers.flatMap((driver) => (driver.by === by ? driver.keys : []));
  const bytes = (by: 'fingerprints' | 'terms') => {
    const keys = drivers.flatMap((driver) => (driver.by === by ? driver.keys : []));
    return [...new Map(keys.map((key) => [key.toString('hex'), key])).values()];
  };
  const all: Driver[] = [
    { by: 'ids', keys: [...new Set(texts('ids'))] },
    { by: 'groups', keys: [...new Set(texts('groups'))] },
    { by: 'fingerprints', keys: bytes('fingerprints') },
    { by: 'terms', keys: bytes('terms') },
  ];
  return all.filter(({ keys }) => keys.length > 0);
}

function conjunction(parts: readonly SearchCondition[]): SearchCondition {
  const [first] = parts;
  if (first === undefined) return ALL;
  return parts.length === 1 ? first : { kind: 'and', parts };
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
