import type { Condition } from './condition.js';
import { groupsCondition } from './condition.js';
import type { Group } from './directory-queries.js';

/** Choices by one directory that are remembered. Further ones are made each time. */
const CHOICES_MAX = 50;

/** As long as the directory itself is remembered: going over ten thousand groups takes longer than the list. */
const choicesIn = new WeakMap<readonly Group[], Map<string, Condition>>();

/** The groups that are chosen; `name` says by what, and the same name must always mean the same choice. */
export function chosenGroups(
  directory: readonly Group[],
  name: string,
  isChosen: (group: Group) => boolean,
): Condition {
  const known = choicesIn.get(directory) ?? new Map<string, Condition>();
  choicesIn.set(directory, known);
  const chosen = known.get(name) ?? groupsCondition(directory.filter(isChosen).map(({ id }) => id));
  if (known.size < CHOICES_MAX) known.set(name, chosen);
  return chosen;
}
