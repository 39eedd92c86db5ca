import type { Permission } from '../../access/permissions.js';
import type { Grants, Transform } from '../../access/rules.js';
import { strictest } from '../../access/rules.js';
import type { SearchCondition } from './condition.js';
import { ALL, both, either, NONE, negated } from './condition.js';
import type { Group } from './directory-queries.js';
import type { Finder } from './visibility.js';
import { coveredBy } from './visibility.js';

/** What has to be shown of a token before it may be found by what it holds. */
export type Least = Extract<Transform, 'reveal' | 'mask'>;

/**
 * Of the tokens somebody sees, those it is shown at least so much of. Looking for a value is a way to read it, so a value is
 * looked for only there. The first rule that covers a token decides, so a rule counts where no earlier one shows less.
 */
export function shownTo(
  principal: Finder,
  permission: Permission,
  least: Least,
  directory: readonly Group[],
): SearchCondition {
  return both(principal.grants.map((grants) => shownBy(grants, permission, least, directory)));
}

/** Whether that takes the directory: where every grant shows enough, or names no container, it does not. */
export function asksDirectory(principal: Finder, permission: Permission, least: Least): boolean {
  return principal.grants.some(
    (grants) =>
      !showsEnough(grants, permission, least) &&
      grants.rules.some(({ permissions, container }) => permissions.includes(permission) && container !== '/'),
  );
}

/** Whether every token that the caller finds by this permission is shown to it in the clear. */
export function revealsAll(principal: Finder, permission: Permission): boolean {
  return principal.grants.every((grants) => revealsEverywhere(grants, permission));
}

/** The first rule that covers a token decides, and plain permissions come last and show masks. */
function revealsEverywhere({ rules, permissions }: Grants, permission: Permission): boolean {
  for (const rule of rules) {
    if (!rule.permissions.includes(permission)) continue;
    if (!isEnough(rule.transform, 'reveal')) return false;
    if (rule.container === '/') return true;
  }
  return !permissions.has(permission);
}

function shownBy(grants: Grants, permission: Permission, least: Least, directory: readonly Group[]): SearchCondition {
  if (showsEnough(grants, permission, least)) return ALL;
  let remaining: SearchCondition = ALL;
  const shown: SearchCondition[] = [];
  for (const rule of grants.rules) {
    if (!rule.permissions.includes(permission)) continue;
    const covered = coveredBy(rule, directory);
    if (isEnough(rule.transform, least)) shown.push(both([covered, remaining]));
    else remaining = both([remaining, negated(covered, directory)]);
  }
  // Plain permissions come last and show masks.
  if (grants.permissions.has(permission) && isEnough('mask', least)) shown.push(remaining);
  return shown.length === 0 ? NONE : either(shown);
}

/** Wherever these grants show a token at all, they show enough of it. */
function showsEnough({ rules, permissions }: Grants, permission: Permission, least: Least): boolean {
  if (permissions.has(permission) && !isEnough('mask', least)) return false;
  return rules.every((rule) => !rule.permissions.includes(permission) || isEnough(rule.transform, least));
}

function isEnough(transform: Transform, least: Least): boolean {
  return strictest([transform, least]) === least;
}
