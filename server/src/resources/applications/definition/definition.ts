import type { Rights, RuleDraft } from '../../../access/check-rules.js';
import { checkRights } from '../../../access/check-rules.js';
import type { Grantee } from '../../../access/grants.js';
import type { ApplicationType } from '../../../access/permissions.js';
import { parseClientDate } from '../../../kernel/dates.js';
import type { FieldErrors } from '../../../kernel/errors.js';

/** An Application as it may be stored. */
export interface Definition extends Rights {
  readonly name: string;
  readonly type: ApplicationType;
  readonly expiresAt: Date | null;
}

/** The fields of a body that say what somebody may do, and until when. */
export interface RightsInput {
  readonly permissions?: readonly string[];
  readonly rules?: readonly RuleDraft[];
  readonly expires_at?: string;
}

export interface TimedRights extends Rights {
  readonly expiresAt: Date | null;
}

/**
 * Checks the fields together, so that a refusal names every fault at once. Without a grantee only what is wrong for
 * everybody is found. `aheadMaxMs` bounds how far the end may lie ahead.
 */
export function checkTimedRights(
  grantee: Grantee | undefined,
  input: RightsInput,
  time: { readonly nowMs: number; readonly aheadMaxMs?: number },
): { readonly rights: TimedRights } | { readonly errors: FieldErrors } {
  const checked = checkRights(grantee, { permissions: input.permissions ?? [], rules: input.rules ?? [] });
  const endMs = input.expires_at === undefined ? undefined : parseClientDate(input.expires_at);
  const fault = endFault(endMs, time.nowMs, time.aheadMaxMs);
  const errors: FieldErrors = { ...('errors' in checked && checked.errors), ...(fault && { expires_at: [fault] }) };
  if ('errors' in checked || fault !== undefined) return { errors };
  return { rights: { ...checked.rights, expiresAt: typeof endMs === 'number' ? new Date(endMs) : null } };
}

function endFault(endMs: number | null | undefined, nowMs: number, aheadMaxMs: number | undefined): string | undefined {
  if (endMs === undefined) return undefined;
  if (endMs === null) return 'must be a date such as 2030-01-01T00:00:00Z';
  if (endMs <= nowMs) return 'must be in the future';
  if (aheadMaxMs === undefined || endMs <= nowMs + aheadMaxMs) return undefined;
  return `must be at most ${aheadMaxMs / 3_600_000} hours ahead`;
}
