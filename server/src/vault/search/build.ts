import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { isUuid } from '../../kernel/ids.js';
import { hasForbiddenCharacters } from '../../kernel/text.js';
import { dataTerm, metadataTerm } from '../stored/terms.js';
import { isTokenType } from '../types/names.js';
import { chosenGroups } from './chosen-groups.js';
import type { Leaf, SearchCondition } from './condition.js';
import { ALL, both, either, groupsCondition, idsCondition, NONE, negated } from './condition.js';
import { coversContainer } from './containers.js';
import type { Group } from './directory-queries.js';
import type { Query, TextField } from './parse.js';

/** What words have to be held against to become a condition. */
export interface Vocabulary {
  readonly keys: TenantKeys;
  /** Empty where no word asks for a type or a container. */
  readonly directory: readonly Group[];
  /** A container stands for what is below it too. */
  readonly includesChildren: boolean;
  /** The stored bytes of a fingerprint as it is shown, or undefined for what is none. */
  readonly readFingerprint: (shown: string) => Buffer | undefined;
  /** The tokens of which enough is shown to look for them by what they hold. */
  readonly shown: Readonly<Record<Held, SearchCondition>>;
}

/** What a token is found by that tells what it holds. */
export type Held = Extract<TextField, 'fingerprint' | 'data'>;

/** The filters of a list: values of one filter are alternatives, the filters must all hold. */
export interface Filters {
  readonly ids?: readonly string[];
  readonly types?: readonly string[];
  readonly containers?: readonly string[];
  readonly metadata?: readonly (readonly [key: string, value: string])[];
  readonly fingerprint?: string;
}

/** Negation is pushed down to the leaves on the way, because the complement of a type is a set of groups again. */
export function conditionOfQuery(query: Query, words: Vocabulary, isNegated = false): SearchCondition {
  switch (query.kind) {
    case 'all':
      return isNegated ? NONE : ALL;
    case 'not':
      return conditionOfQuery(query.part, words, !isNegated);
    case 'and':
    case 'or': {
      const parts = query.parts.map((part) => conditionOfQuery(part, words, isNegated));
      return (query.kind === 'and') === isNegated ? either(parts) : both(parts);
    }
    case 'metadata':
      return signed(metadataLeaf(words, query.key, query.value), isNegated);
    case 'dates': {
      const kind = query.field === 'created_at' ? 'createdAt' : 'modifiedAt';
      return signed({ kind, fromMs: query.fromMs, beforeMs: query.beforeMs }, isNegated);
    }
    case 'text':
      if (query.field === 'type') return ofTypes(words, isNegated, [query.value]);
      if (query.field === 'container') return ofContainer(words, isNegated, query.value);
      if (isHeld(query.field)) return ofHeld(words, isNegated, query.field, query.value);
      return signed(textLeaf(words, query.field, query.value), isNegated);
  }
}

export function conditionOfFilters(filters: Filters, words: Vocabulary): SearchCondition {
  const { ids, types, containers, metadata = [], fingerprint } = filters;
  return both([
    // No token has an id that cannot be stored, and a statement cannot carry it either.
    ids === undefined ? ALL : idsCondition(ids.filter((id) => !hasForbiddenCharacters(id))),
    types === undefined ? ALL : ofTypes(words, false, types),
    containers === undefined ? ALL : either(containers.map((path) => ofContainerPath(words, false, path))),
    ...metadata.map(([key, value]) => metadataLeaf(words, key, value)),
    fingerprint === undefined ? ALL : ofHeld(words, false, 'fingerprint', fingerprint),
  ]);
}

/** Whether a type or a container is asked for, which only the directory can answer. */
export function asksForGroups(query: Query): boolean {
  if (query.kind === 'text') return query.field === 'type' || query.field === 'container';
  if (query.kind === 'not') return asksForGroups(query.part);
  return (query.kind === 'and' || query.kind === 'or') && query.parts.some(asksForGroups);
}

/** What is asked for that only tokens of which enough is shown are found by. */
export function heldIn(query: Query): Held[] {
  if (query.kind === 'text') return isHeld(query.field) ? [query.field] : [];
  if (query.kind === 'not') return heldIn(query.part);
  return query.kind === 'and' || query.kind === 'or' ? query.parts.flatMap(heldIn) : [];
}

/** The terms that are asked for, however they are combined. */
export function searchTermsOf(query: Query, keys: TenantKeys): Buffer[] {
  if (query.kind === 'metadata') return [metadataTerm(keys, query.key, query.value)];
  if (query.kind === 'text') return query.field === 'data' ? [dataTerm(keys, query.value)] : [];
  if (query.kind === 'not') return searchTermsOf(query.part, keys);
  return query.kind === 'and' || query.kind === 'or' ? query.parts.flatMap((part) => searchTermsOf(part, keys)) : [];
}

/** Whether something must hold besides something else, so that there is a choice what to look for first. */
export function hasChoice(query: Query): boolean {
  if (query.kind === 'not') return query.part.kind === 'or' || hasChoice(query.part);
  return query.kind === 'and' || (query.kind === 'or' && query.parts.some(hasChoice));
}

/** A value that no token can have matches none, and its negation all. */
function signed(leaf: Leaf | undefined, isNegated: boolean): SearchCondition {
  if (leaf === undefined) return isNegated ? ALL : NONE;
  return isNegated ? { kind: 'not', leaf } : leaf;
}

function isHeld(field: TextField): field is Held {
  return field === 'fingerprint' || field === 'data';
}

/** A token of which too little is shown does not have the value, whatever it holds: neither this nor its negation tells. */
function ofHeld(words: Vocabulary, isNegated: boolean, field: Held, value: string): SearchCondition {
  const found = both([signed(textLeaf(words, field, value), false), words.shown[field]]);
  return isNegated ? negated(found, words.directory) : found;
}

function textLeaf(words: Vocabulary, field: Exclude<TextField, 'type' | 'container'>, value: string): Leaf | undefined {
  switch (field) {
    case 'id':
      return { kind: 'ids', ids: [value] };
    case 'data':
      return { kind: 'term', term: dataTerm(words.keys, value) };
    case 'fingerprint': {
      const fingerprint = words.readFingerprint(value);
      return fingerprint && { kind: 'fingerprint', fingerprint };
    }
    case 'created_by':
    case 'modified_by':
      if (!isUuid(value)) return undefined;
      return { kind: field === 'created_by' ? 'createdBy' : 'modifiedBy', id: value.toLowerCase() };
  }
}

function metadataLeaf(words: Vocabulary, key: string, value: string): Leaf {
  return { kind: 'term', term: metadataTerm(words.keys, key, value) };
}

/** No container holds an asterisk, so one at the end means a prefix however it was quoted. */
function ofContainer(words: Vocabulary, isNegated: boolean, value: string): SearchCondition {
  if (!value.endsWith('*')) return ofContainerPath(words, isNegated, value);
  const prefix = value.slice(0, -1).toLowerCase();
  return ofGroups(words, isNegated, ({ containers }) => containers.some((each) => each.startsWith(prefix)));
}

/** Containers are stored in lower case, whatever case they came in. */
function ofContainerPath(words: Vocabulary, isNegated: boolean, value: string): SearchCondition {
  const path = value.toLowerCase();
  const matches = words.includesChildren
    ? (container: string) => coversContainer(path, container)
    : (container: string) => container === path;
  return ofGroups(words, isNegated, ({ containers }) => containers.some(matches));
}

/** There are few types, so what they choose is worth remembering; other choices are for clients to make up. */
function ofTypes(words: Vocabulary, isNegated: boolean, types: readonly string[]): SearchCondition {
  const wanted = new Set(types);
  const matches = ({ type }: Group) => wanted.has(type);
  if (![...wanted].every(isTokenType)) return ofGroups(words, isNegated, matches);
  const name = `${isNegated ? 'not ' : ''}of ${[...wanted].sort().join(' ')}`;
  return chosenGroups(words.directory, name, (group) => matches(group) !== isNegated);
}

function ofGroups({ directory }: Vocabulary, isNegated: boolean, matches: (group: Group) => boolean): SearchCondition {
  return groupsCondition(directory.filter((group) => matches(group) !== isNegated).map(({ id }) => id));
}
