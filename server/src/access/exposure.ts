import type { RuleTarget } from './decide.js';
import { decide, decideAll } from './decide.js';
import type { Permission } from './permissions.js';
import type { Principal } from './principal.js';
import type { Transform } from './rules.js';

/** What a caller can be shown a token by. */
const SHOWN_BY = ['token:read', 'token:search', 'token:update', 'token:use'] as const satisfies readonly Permission[];

/** From least to most; not being granted at all comes before them. */
const LEVELS: readonly Transform[] = ['redact', 'mask', 'reveal'];

/**
 * Whether the caller gets the data of this token in the clear anyway. Use is left out: it hands the data to somebody else's
 * code or server, not to the caller.
 */
export function reveals(principal: Principal, token: RuleTarget): boolean {
  return (
    decide(principal, 'token:read', token) === 'reveal' ||
    decide(principal, 'token:search', token) === 'reveal' ||
    decideAll(principal, 'token:update', token) === 'reveal'
  );
}

/** Whether any operation would show more of the token in its new containers than in its old ones. */
export function showsMore(principal: Principal, before: RuleTarget, after: RuleTarget): boolean {
  return SHOWN_BY.some((permission) => levelOf(principal, permission, after) > levelOf(principal, permission, before));
}

function levelOf(principal: Principal, permission: (typeof SHOWN_BY)[number], token: RuleTarget): number {
  const transform = (permission === 'token:update' ? decideAll : decide)(principal, permission, token);
  return transform === undefined ? -1 : LEVELS.indexOf(transform);
}
