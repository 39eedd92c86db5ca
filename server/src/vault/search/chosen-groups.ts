import type { SearchCondition } from './condition.js';
import { groupsCondition } from './condition.js';
import { versionOf } from './directory.js';
import type { Group } from './directory-queries.js';

/** Choices by one directory that are remembered. Further ones are made each time. */
const CHOICES_MAX = 50;

/** As long as the directory itself is remembered: going over ten thousand groups takes longer than the list. */
const choicesIn = new WeakMap<readonly Group[], Map<string, SearchCondition>>();

/** The groups that are chosen; `name` says by what, and the same name must always mean the same choice. */
export function chosenGroups(
  directory: readonly Group[],
  name: string,
  isChosen: (group: Group) => boolean,
): SearchCondition {
  const known = choicesIn.get(directory) ?? new Map<string, SearchCondition>();
  choicesIn.set(directory, known);
  const chosen = known.get(name) ?? groupsCondition(directory.filter(isChosen).map(({ id }) => id));
  if (known.size < CHOICES_MAX) known.set(name, chosen);
  return chosen;
}

/** From so many on, adding up all of a tenant's rows and taking some off is quicker than looking for each. */
const MANY_GROUPS = 500;

const hiddenFrom = new WeakMap<readonly string[], readonly string[]>();

/** What many groups leave out, where that is the smaller part; and as of which version of the directory. */
export function hiddenBy(
  directory: readonly Group[],
  groupIds: readonly string[],
): { readonly ids: readonly string[]; readonly version: string } | undefined {
  const version = versionOf(directory);
  const isMost = groupIds.length > MANY_GROUPS && groupIds.length * 2 > directory.length;
  if (version === undefined || !isMost) return undefined;
  const ids = hiddenFrom.get(groupIds) ?? without(directory, new Set(groupIds));
  hiddenFrom.set(groupIds, ids);
  return { ids, version };
}

function without(directory: readonly Group[], seen: ReadonlySet<string>): string[] {
  return directory.flatMap(({ id }) => (seen.has(id) ? [] : [id]));
}
