import type { Permission } from '../../../access/permissions.js';
import { permissionsOfRole } from '../../../access/roles.js';
import type { AuditContext } from '../../../audit/entry.js';
import type { LogEvent } from '../../../audit/events.js';
import { record } from '../../../audit/record.js';
import type { Clock } from '../../../kernel/clock.js';
import { AppError } from '../../../kernel/errors.js';
import { isUuid } from '../../../kernel/ids.js';
import type { Membership, People } from '../../../people/people.js';
import { refuseByRules } from '../../../people/rules/sign-in-rules.js';
import type { SignedIn } from '../../../people/sessions/portal-sessions.js';
import type { Database } from '../../../storage/database.js';
import type { NoteVisit } from '../../members/index.js';

export interface OwnTenantOptions {
  readonly database: Database;
  readonly people: Pick<People, 'membership'>;
  readonly clock: Clock;
  /** Full auditing: reads and refusals have an entry of their own. */
  readonly isAuditedInFull: boolean;
  /** Has the first act of a session in a tenant written down. */
  readonly noteVisit: NoteVisit;
}

/** How calls on a tenant named in the path may fail, besides what every call may. */
export const OWN_TENANT_FAILURES = ['not_found', 'permission_denied', 'second_factor_required'] as const;

/** What somebody asks for in a tenant, and the entries of full auditing for it. */
export interface Asking {
  readonly permission: Permission;
  readonly onDenied: LogEvent;
  /** For reads that count as such. */
  readonly onRead?: LogEvent;
}

/** A tenant of whoever is signed in, named in the path. Its log has the first act of the session there. */
export async function ownTenant(
  options: OwnTenantOptions,
  signedIn: SignedIn,
  tenantId: string | undefined,
  { auditContext, ...asking }: Asking & { readonly auditContext: AuditContext },
): Promise<Membership> {
  const { people, isAuditedInFull } = options;
  const isNamed = tenantId !== undefined && isUuid(tenantId);
  const membership = isNamed ? await people.membership(signedIn.userId, tenantId.toLowerCase()) : undefined;
  // Of others and of nobody alike.
  if (!membership) throw new AppError('not_found', 'There is no such Tenant, or you are not a member of it.');
  const refusal = refusalOf(options, signedIn, membership, asking.permission);
  if (!refusal?.isByRules) await options.noteVisit({ ...membership, session: signedIn }, auditContext);
  if (isAuditedInFull) await audit(options, membership, auditContext, { ...asking, isDenied: refusal !== undefined });
  if (refusal) throw refusal.error;
  return membership;
}

interface Refusal {
  readonly error: AppError;
  /** The session itself does not do for this tenant. */
  readonly isByRules: boolean;
}

function refusalOf(
  { clock }: OwnTenantOptions,
  signedIn: SignedIn,
  { rules, role }: Membership,
  permission: Permission,
): Refusal | undefined {
  try {
    refuseByRules(rules, role, signedIn, clock.nowMs());
  } catch (error) {
    if (error instanceof AppError) return { error, isByRules: true };
    throw error;
  }
  if (permissionsOfRole(role).has(permission)) return undefined;
  const detail = `This request needs the permission ${permission}, which the user does not hold.`;
  return { error: new AppError('permission_denied', detail), isByRules: false };
}

/** Durable before the answer goes out. */
async function audit(
  { database }: OwnTenantOptions,
  { tenantId }: Membership,
  auditContext: AuditContext,
  { onDenied, onRead, isDenied }: Asking & { readonly isDenied: boolean },
): Promise<void> {
  const event = isDenied ? onDenied : onRead;
  if (!event) return;
  const entityId = event.entityType === 'tenant' ? tenantId : '*';
  const entry = { event, entityId, outcome: isDenied ? 'denied' : 'success' } as const;
  await database.write(tenantId, (tx) => record(tx, auditContext, entry));
}

/** A call of somebody who is signed in, on a tenant that its path names. */
export interface OwnTenantCall {
  readonly signedIn: SignedIn;
  readonly tenantId: string | undefined;
  readonly auditContext: AuditContext;
}

/** Opens the tenant of a call to a member whose role has the permission. */
export type EnterTenant = (call: OwnTenantCall, asking: Asking) => Promise<Membership>;

/** For slices with calls of their own. */
export function createEnterTenant(options: OwnTenantOptions): EnterTenant {
  return ({ signedIn, tenantId, auditContext }, asking) =>
    ownTenant(options, signedIn, tenantId, { ...asking, auditContext });
}

/** Why somebody may not go on with what it began. */
export type Withdrawn = 'signed_out' | 'no_access';

/** Whether the session and the role behind a call still are what they were; for answers that take long. */
export type AskStill = (call: OwnTenantCall, permission: Permission) => Promise<Withdrawn | undefined>;

export function createAskStill({
  people,
  clock,
}: {
  readonly people: Pick<People, 'membership' | 'sessions'>;
  readonly clock: Clock;
}): AskStill {
  return async ({ signedIn, tenantId = '' }, permission) => {
    if (!(await people.sessions.isOpen(signedIn))) return 'signed_out';
    const membership = await people.membership(signedIn.userId, tenantId.toLowerCase());
    if (!membership || !permissionsOfRole(membership.role).has(permission)) return 'no_access';
    try {
      refuseByRules(membership.rules, membership.role, signedIn, clock.nowMs());
    } catch (error) {
      if (error instanceof AppError) return 'no_access';
      throw error;
    }
    return undefined;
  };
}
