import type { Permission } from '../../access/permissions.js';
import type { TenantTx } from '../../storage/scope.js';
import { metadataTerm } from '../stored/terms.js';
import type { Filters, Held, Vocabulary } from './build.js';
import { asksForGroups, conditionOfFilters, conditionOfQuery, hasChoice, heldIn, searchTermsOf } from './build.js';
import type { SearchCondition } from './condition.js';
import { both } from './condition.js';
import type { Group } from './directory-queries.js';
import { listGroups } from './directory-queries.js';
import type { Query } from './parse.js';
import type { Least } from './shown.js';
import { asksDirectory, shownTo } from './shown.js';
import type { TermRows } from './term-queries.js';
import { readTermRows } from './term-queries.js';
import type { Finder } from './visibility.js';
import { seesAll, visibleTo } from './visibility.js';

const EVERYTHING: Query = { kind: 'all' };
const NO_TERM_ROWS: TermRows = new Map();

/** Who looks for what. */
export interface Ask extends Omit<Vocabulary, 'directory' | 'shown'> {
  readonly principal: Finder;
  /** What a token must be granted for to be found. */
  readonly permission: Extract<Permission, 'token:read' | 'token:search'>;
  readonly query?: Query;
  readonly filters?: Filters;
  /** How much of a token must be shown to find it by what it holds. */
  readonly least: Readonly<Record<Held, Least>>;
}

export interface Resolved {
  readonly condition: SearchCondition;
  /** Undefined if it did not have to be read. */
  readonly directory: readonly Group[] | undefined;
  /** Of the terms that were worth looking at before. */
  readonly termRows: TermRows;
}

/** What has to be read before it is known what to look for. */
interface ToRead {
  readonly isDirectoryNeeded: boolean;
  /** How rare these are tells which to look for first. */
  readonly terms: readonly Buffer[];
}

/** The directory, unless nothing depends on it, and how rare the terms are if something else could be looked for first. */
function toRead({ principal, permission, query = EVERYTHING, filters = {}, keys, least }: Ask): ToRead {
  const held = [...heldIn(query), ...(filters.fingerprint === undefined ? [] : (['fingerprint'] as const))];
  const isDirectoryNeeded =
    !seesAll(principal, permission) ||
    held.some((field) => asksDirectory(principal, permission, least[field])) ||
    asksForGroups(query) ||
    filters.types !== undefined ||
    filters.containers !== undefined;
  const filterTerms = (filters.metadata ?? []).map(([key, value]) => metadataTerm(keys, key, value));
  const terms = [...searchTermsOf(query, keys), ...filterTerms];
  const isChoice = isDirectoryNeeded || (terms.length > 1 && (hasChoice(query) || filterTerms.length > 0));
  return { isDirectoryNeeded, terms: isChoice ? terms : [] };
}

function resolveWith(ask: Ask, directory: readonly Group[] | undefined, termRows: TermRows): Resolved {
  const { principal, permission, query = EVERYTHING, filters = {}, least } = ask;
  const groups = directory ?? [];
  const shown = (field: Held) => shownTo(principal, permission, least[field], groups);
  const words: Vocabulary = {
    ...ask,
    directory: groups,
    // Made when it is asked for: most lists ask for neither.
    shown: {
      get fingerprint() {
        return shown('fingerprint');
      },
      get data() {
        return shown('data');
      },
    },
  };
  const condition = both([
    conditionOfQuery(query, words),
    conditionOfFilters(filters, words),
    visibleTo(principal, permission, groups),
  ]);
  return { condition, directory, termRows };
}

/** The condition a token must meet to be found, and what there is to know before looking for it. */
export async function resolveAsk(
  tx: TenantTx,
  ask: Ask,
  readDirectory: (tx: TenantTx) => Promise<readonly Group[]> = listGroups,
): Promise<Resolved> {
  const { isDirectoryNeeded, terms } = toRead(ask);
  const [directory, termRows] = await Promise.all([
    isDirectoryNeeded ? readDirectory(tx) : undefined,
    terms.length > 0 ? readTermRows(tx, terms) : NO_TERM_ROWS,
  ]);
  return resolveWith(ask, directory, termRows);
}

/** The same where nothing has to be read for it; undefined elsewhere. */
export function resolveAtOnce(ask: Ask): Resolved | undefined {
  const { isDirectoryNeeded, terms } = toRead(ask);
  return isDirectoryNeeded || terms.length > 0 ? undefined : resolveWith(ask, undefined, NO_TERM_ROWS);
}
