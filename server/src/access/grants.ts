import { createHash } from 'node:crypto';
import type { ApplicationType, Permission } from './permissions.js';
import { isPermission, isTokenPermission, mayHold } from './permissions.js';
import type { Grants, Rule } from './rules.js';

/** Who is given something: an Application of a type, or a session. */
export type Grantee = ApplicationType | 'session';

/** Rules as they are stored. The order of members is fixed, because a keyed hash covers these very bytes. */
export function rulesText(rules: readonly Rule[]): string {
  return JSON.stringify(
    rules.map(({ description, priority, container, conditions, transform, permissions }) => ({
      description,
      priority,
      container,
      conditions: conditions?.map(({ attribute, operator, value }) => ({ attribute, operator, value })),
      transform,
      permissions,
    })),
  );
}

export const NO_RULES = '[]';

/** Changes when anything of what somebody was given does, and only then. */
export function grantsDigest(grants: readonly Grants[]): string {
  const given = grants.map(({ permissions, rules }) => [[...permissions].sort(), rulesText(rules)]);
  return createHash('sha256').update(JSON.stringify(given)).digest('hex');
}

/** Reads what `rulesText` wrote. Only for text whose keyed hash was checked: then it is our own. */
export function parseRules(text: string): Rule[] {
  return JSON.parse(text) as Rule[]; // Written by rulesText, as the checked hash shows.
}

/** What stored rights amount to. A name the grantee may not hold grants nothing, even under a valid seal. */
export function grantsOf(grantee: Grantee, permissions: readonly string[], rules: string): Grants {
  const may = (name: string): name is Permission => isPermission(name) && mayBeGiven(grantee, name);
  return {
    permissions: new Set(permissions.filter(may)),
    rules: parseRules(rules)
      // Descriptions are for people and need not be cached.
      .map((rule) => ({ ...rule, description: undefined, permissions: rule.permissions.filter(may) }))
      .sort((a, b) => a.priority - b.priority),
  };
}

/** A session is bounded by the Application that authorizes it, so any token permission can be given to it. */
export function mayBeGiven(grantee: Grantee, permission: Permission): boolean {
  return grantee === 'session' ? isTokenPermission(permission) : mayHold(grantee, permission);
}

/** Every permission the grants hold at all. */
export function heldBy({ permissions, rules }: Grants): ReadonlySet<Permission> {
  return rules.length === 0 ? permissions : new Set([...permissions, ...rules.flatMap((rule) => rule.permissions)]);
}
