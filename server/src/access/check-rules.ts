import type { FieldErrors } from '../kernel/errors.js';
import type { Grantee } from './grants.js';
import { mayBeGiven } from './grants.js';
import type { Permission } from './permissions.js';
import { isPermission, isTokenPermission, PERMISSIONS } from './permissions.js';
import type { Condition, Rule, Transform } from './rules.js';

/** A rule as a client writes it: its members have the right types, and nothing more is known. */
export interface RuleDraft {
  readonly description?: string;
  readonly priority: number;
  readonly container?: string;
  readonly conditions?: readonly Condition[];
  readonly transform?: Transform;
  readonly permissions: readonly string[];
}

export interface RightsDraft {
  readonly permissions: readonly string[];
  readonly rules: readonly RuleDraft[];
}

/** Rights that may be stored. */
export interface Rights {
  readonly permissions: readonly Permission[];
  readonly rules: readonly Rule[];
}

/** Each segment ends at the only slash that can end it, so matching takes one pass. */
export const CONTAINER_PATTERN = /^\/(?:[A-Za-z0-9_-]+\/)*$/;
export const CONTAINER_LENGTH_MAX = 200;
/** Of all rules together: a process remembers thousands of sessions with theirs. */
const CONDITIONS_MAX = 100;
/** Shown again only if it reads like a permission: what was pasted by mistake may be a secret. */
const LIKE_A_PERMISSION = /^[A-Za-z:]{1,60}$/;

export type Checked = { readonly rights: Rights } | { readonly errors: FieldErrors };

/** Checks what somebody is to be given. Without a grantee, only what is wrong for everybody is found. */
export function checkRights(grantee: Grantee | undefined, draft: RightsDraft): Checked {
  const errors: FieldErrors = {};
  const add = (path: string, messages: readonly string[]): void => {
    if (messages.length > 0) errors[path] = [...(errors[path] ?? []), ...messages];
  };
  add('permissions', permissionFaults(grantee, draft.permissions));
  if (draft.permissions.length === 0 && draft.rules.length === 0) {
    add('permissions', ['must name at least one permission, unless there are rules']);
  }
  if (grantee === 'management' && draft.rules.length > 0) add('rules', ['cannot be given to a management application']);
  const conditions = draft.rules.reduce((sum, rule) => sum + (rule.conditions?.length ?? 0), 0);
  if (conditions > CONDITIONS_MAX) add('rules', [`must have at most ${CONDITIONS_MAX} conditions in all`]);
  const priorities = new Set<number>();
  draft.rules.forEach((rule, index) => {
    const at = `rules[${index}]`;
    if (priorities.has(rule.priority)) add(`${at}.priority`, ['is the priority of another rule; give each its own']);
    priorities.add(rule.priority);
    addPlaceFaults(grantee, rule, (member, message) => add(`${at}.${member}`, [message]));
    const faults = grantee === 'management' ? [] : rulePermissionFaults(grantee, rule.permissions);
    add(`${at}.permissions`, faults);
  });
  if (Object.keys(errors).length > 0) return { errors };
  return { rights: { permissions: catalogued(draft.permissions), rules: draft.rules.map(settled) } };
}

function addPlaceFaults(
  grantee: Grantee | undefined,
  { container, conditions = [] }: RuleDraft,
  add: (member: string, message: string) => void,
): void {
  const isSession = grantee === 'session';
  if (container === undefined && conditions.length === 0) {
    add('container', isSession ? 'is required, unless there are conditions' : 'is required');
  }
  if (conditions.length > 0 && !isSession) add('conditions', 'can be used by sessions alone; name a container');
  if (conditions.length > 0 && container !== undefined) add('conditions', 'cannot stand beside a container');
  if (container === undefined) return;
  if (!CONTAINER_PATTERN.test(container) || container.length > CONTAINER_LENGTH_MAX) {
    add('container', 'must be a path such as /pci/high/: letters, digits, _ and - between slashes, 200 characters');
  }
}

/** Every permission must exist and fit the grantee. */
function permissionFaults(grantee: Grantee | undefined, names: readonly string[]): string[] {
  return names.flatMap((name, index) => {
    if (!isPermission(name)) {
      const shown = LIKE_A_PERMISSION.test(name) ? name : `entry ${index + 1}`;
      return [`${shown} is not a permission; GET /permissions lists them`];
    }
    if (grantee === undefined || mayBeGiven(grantee, name)) return [];
    return [`${name} cannot be held by a ${grantee === 'session' ? 'session' : `${grantee} application`}`];
  });
}

function rulePermissionFaults(grantee: Grantee | undefined, names: readonly string[]): string[] {
  if (names.length === 0) return ['must name at least one permission'];
  const strangers = names.filter((name) => isPermission(name) && !isTokenPermission(name));
  if (strangers.length > 0) return strangers.map((name) => `${name} is not about tokens; rules are for tokens alone`);
  return permissionFaults(grantee, names);
}

/** In the order of the catalogue, each once. */
function catalogued(names: readonly string[]): Permission[] {
  return PERMISSIONS.map(({ type }) => type).filter((type) => names.includes(type));
}

/** Containers are compared in lower case, as tokens store them. */
function settled({ description, priority, container, conditions = [], transform, permissions }: RuleDraft): Rule {
  const place =
    container === undefined
      ? { container, conditions: conditions.map(settledCondition) }
      : { container: container.toLowerCase(), conditions: undefined };
  return { description, priority, ...place, transform: transform ?? 'mask', permissions: catalogued(permissions) };
}

function settledCondition({ attribute, operator, value }: Condition): Condition {
  return { attribute, operator, value: attribute === 'container' ? value.toLowerCase() : value };
}
