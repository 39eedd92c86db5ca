import type { Permission } from '../../access/permissions.js';
import type { Principal } from '../../access/principal.js';
import type { Grants, Rule, Condition as RuleCondition } from '../../access/rules.js';
import { chosenGroups } from './chosen-groups.js';
import type { SearchCondition } from './condition.js';
import { ALL, both, either, groupsCondition, idsCondition, NONE } from './condition.js';
import { coversContainer } from './containers.js';
import type { Group } from './directory-queries.js';

/** As much of a principal as decides what it finds. */
export type Finder = Pick<Principal, 'grants'>;

const EVERYWHERE = '/';

/**
 * Which tokens somebody may find by a permission. A rule sees a token if it covers one of its containers, so whole groups
 * are seen or not; only a session's conditions on ids have to be asked of each token.
 */
export function visibleTo(principal: Finder, permission: Permission, directory: readonly Group[]): SearchCondition {
  if (principal.grants.length === 0) return NONE;
  return both(principal.grants.map((grants) => visibleBy(grants, permission, directory)));
}

/** Sees every token, whatever groups there are: then nobody has to look at the directory. */
export function seesAll(principal: Finder, permission: Permission): boolean {
  return visibleTo(principal, permission, []).kind === 'all';
}

function visibleBy(grants: Grants, permission: Permission, directory: readonly Group[]): SearchCondition {
  if (grants.permissions.has(permission)) return ALL;
  const rules = grants.rules.filter((rule) => rule.permissions.includes(permission));
  const containers = rules.flatMap(({ container }) => container ?? []);
  const others = rules.filter(({ container }) => container === undefined);
  return either([coveredByOneOf(containers, directory), ...others.map((rule) => coveredBy(rule, directory))]);
}

/** In one pass for all of them: there may be a hundred rules and ten thousand groups. */
function coveredByOneOf(paths: readonly string[], directory: readonly Group[]): SearchCondition {
  if (paths.length === 0) return NONE;
  if (paths.includes(EVERYWHERE)) return ALL;
  const covering = new Set(paths.map((path) => (path.endsWith('/') ? path : `${path}/`)));
  return chosenGroups(directory, `covered by ${paths.join(' ')}`, ({ containers }) =>
    containers.some((container) => isBelowOneOf(covering, container)),
  );
}

function isBelowOneOf(paths: ReadonlySet<string>, container: string): boolean {
  for (let end = container.indexOf('/', 1); end !== -1; end = container.indexOf('/', end + 1)) {
    if (paths.has(container.slice(0, end + 1))) return true;
  }
  return false;
}

export function coveredBy({ container, conditions }: Rule, directory: readonly Group[]): SearchCondition {
  if (container !== undefined) {
    return container === EVERYWHERE ? ALL : holding(directory, (each) => coversContainer(container, each));
  }
  // A rule that names nothing covers nothing.
  if (conditions === undefined || conditions.length === 0) return NONE;
  return both(conditions.map((condition) => heldBy(condition, directory)));
}

function heldBy({ attribute, operator, value }: RuleCondition, directory: readonly Group[]): SearchCondition {
  if (attribute === 'id') return operator === 'equals' ? idsCondition([value]) : { kind: 'idPrefix', prefix: value };
  return holding(directory, operator === 'equals' ? (each) => each === value : (each) => each.startsWith(value));
}

function holding(directory: readonly Group[], isCovered: (container: string) => boolean): SearchCondition {
  return groupsCondition(directory.filter(({ containers }) => containers.some(isCovered)).map(({ id }) => id));
}
