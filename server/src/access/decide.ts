import type { Permission } from './permissions.js';
import type { Principal } from './principal.js';
import type { Condition, Grants, Rule, Transform } from './rules.js';
import { strictest } from './rules.js';

/** What of a token the rules look at. Containers are stored in lower case, and so are those of rules. */
export interface RuleTarget {
  readonly id: string;
  readonly containers: readonly string[];
}

/** As much of a principal as decides about tokens. */
type Granted = Pick<Principal, 'grants'>;

/** Held at all, plainly or by a rule. Which tokens that covers is for `decide` to say. */
export function holds(principal: Principal, permission: Permission): boolean {
  return principal.permissions.has(permission);
}

/**
 * Reading, searching, using, deleting: may the principal do it with this token, and how much of its data does it see?
 * One covered container is enough. Undefined means no.
 */
export function decide(principal: Granted, permission: Permission, token: RuleTarget): Transform | undefined {
  return together(principal.grants.map((grants) => granted(grants, permission, token)));
}

/**
 * Creating, updating: every container must be granted, those it leaves and those it enters, or a token could be carried
 * out of reach of the rules that guard it. A token without a container is nowhere, so nothing grants it.
 */
export function decideAll(principal: Granted, permission: Permission, token: RuleTarget): Transform | undefined {
  return together(
    principal.grants.flatMap((grants) =>
      token.containers.map((container) => granted(grants, permission, { id: token.id, containers: [container] })),
    ),
  );
}

/** The first rule that covers the token and lists the permission decides; plain permissions come last. */
function granted(grants: Grants, permission: Permission, token: RuleTarget): Transform | undefined {
  const rule = decidingRule(grants, permission, token);
  if (rule) return rule.transform;
  if (!grants.permissions.has(permission)) return undefined;
  return permission === 'token:use' ? 'reveal' : 'mask';
}

/** Undefined where no rule decides: the plain permission does, or nothing grants it. */
export function decidingRule({ rules }: Grants, permission: Permission, token: RuleTarget): Rule | undefined {
  return rules.find((candidate) => candidate.permissions.includes(permission) && covers(candidate, token));
}

function covers({ container, conditions }: Rule, token: RuleTarget): boolean {
  if (container !== undefined) return token.containers.some((place) => place.startsWith(container));
  // A rule without either would cover everything; it covers nothing instead.
  return conditions !== undefined && conditions.length > 0 && conditions.every((condition) => fits(condition, token));
}

function fits({ attribute, operator, value }: Condition, { id, containers }: RuleTarget): boolean {
  const candidates = attribute === 'id' ? [id] : containers;
  return candidates.some((text) => (operator === 'equals' ? text === value : text.startsWith(value)));
}

/** All must say yes; of their transforms the strictest counts. Nobody to ask means no. */
function together(answers: readonly (Transform | undefined)[]): Transform | undefined {
  const transforms = answers.filter((answer) => answer !== undefined);
  return transforms.length === answers.length ? strictest(transforms) : undefined;
}
