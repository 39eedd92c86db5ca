import type { Group } from './directory-queries.js';
import type { Span } from './span.js';

/** One thing to ask of a token. */
export type Leaf =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'idPrefix'; readonly prefix: string }
  | { readonly kind: 'groups'; readonly groupIds: readonly string[] }
  | { readonly kind: 'fingerprint'; readonly fingerprint: Buffer }
  | { readonly kind: 'term'; readonly term: Buffer }
  | { readonly kind: 'createdBy' | 'modifiedBy'; readonly id: string }
  | ({ readonly kind: 'createdAt' | 'modifiedAt' } & Span);

/** Which tokens are meant. Only leaves are negated, and never groups: what is not in some groups is in the others. */
export type SearchCondition =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly SearchCondition[] }
  | { readonly kind: 'not'; readonly leaf: Leaf }
  | Leaf;

export const ALL: SearchCondition = { kind: 'all' };
export const NONE: SearchCondition = { kind: 'none' };

/**
 * A set of groups. It stays a set even when it holds every group there is: a group that appears before the tokens are
 * read was not looked at, and nobody may see it by accident.
 */
export function groupsCondition(groupIds: readonly string[]): SearchCondition {
  return groupIds.length === 0 ? NONE : { kind: 'groups', groupIds };
}

export function idsCondition(ids: readonly string[]): SearchCondition {
  return ids.length === 0 ? NONE : { kind: 'ids', ids: [...new Set(ids)] };
}

/** All of them must hold. */
export function both(given: readonly SearchCondition[]): SearchCondition {
  const parts = flatten('and', given).filter(({ kind }) => kind !== 'all');
  if (parts.some(({ kind }) => kind === 'none')) return NONE;
  return joined('and', parts, (lists) => lists.reduce((kept, list) => intersection(kept, list)));
}

/** One of them must hold. */
export function either(given: readonly SearchCondition[]): SearchCondition {
  const parts = flatten('or', given).filter(({ kind }) => kind !== 'none');
  if (parts.some(({ kind }) => kind === 'all')) return ALL;
  return joined('or', parts, (lists) => (lists.length === 1 && lists[0] ? lists[0] : [...new Set(lists.flat())]));
}

/** What is not meant. Of groups those are the other ones of the directory, never such as appear later. */
export function negated(condition: SearchCondition, directory: readonly Group[]): SearchCondition {
  switch (condition.kind) {
    case 'all':
      return NONE;
    case 'none':
      return ALL;
    case 'not':
      return condition.leaf;
    case 'and':
    case 'or': {
      const parts = condition.parts.map((part) => negated(part, directory));
      return condition.kind === 'and' ? either(parts) : both(parts);
    }
    case 'groups': {
      const meant = new Set(condition.groupIds);
      return groupsCondition(directory.filter(({ id }) => !meant.has(id)).map(({ id }) => id));
    }
    default:
      return { kind: 'not', leaf: condition };
  }
}

function flatten(kind: 'and' | 'or', parts: readonly SearchCondition[]): SearchCondition[] {
  return parts.flatMap((part) =>
    (part.kind === 'and' || part.kind === 'or') && part.kind === kind ? part.parts : [part],
  );
}

/** Sets of groups become one set, and so do sets of ids, which is what lets an index drive the search. */
function joined(
  kind: 'and' | 'or',
  parts: readonly SearchCondition[],
  merge: (lists: readonly (readonly string[])[]) => readonly string[],
): SearchCondition {
  const groups = parts.flatMap((part) => (part.kind === 'groups' ? [part.groupIds] : []));
  const ids = parts.flatMap((part) => (part.kind === 'ids' ? [part.ids] : []));
  const kept = [
    ...(groups.length > 0 ? [groupsCondition(merge(groups))] : []),
    ...(ids.length > 0 ? [idsCondition(merge(ids))] : []),
    ...parts.filter((part) => part.kind !== 'groups' && part.kind !== 'ids'),
  ];
  if (kind === 'and' && kept.some((part) => part.kind === 'none')) return NONE;
  const [first] = kept;
  if (first === undefined) return kind === 'and' ? ALL : NONE;
  return kept.length === 1 ? first : { kind, parts: kept };
}

/** As long as both lists live: a remembered directory gives the same ones to one request after another. */
const commonTo = new WeakMap<readonly string[], WeakMap<readonly string[], readonly string[]>>();

function intersection(a: readonly string[], b: readonly string[]): readonly string[] {
  const known = commonTo.get(a)?.get(b);
  if (known) return known;
  const wanted = new Set(b);
  const common = a.filter((each) => wanted.has(each));
  const ofA = commonTo.get(a) ?? new WeakMap();
  commonTo.set(a, ofA.set(b, common));
  return common;
}
