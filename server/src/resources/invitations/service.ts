import type { Principal } from '../../access/principal.js';
import { isGivenRole, refuseHigherRole } from '../../access/roles.js';
import { isInvitationMacValid } from '../../access/row-macs.js';
import type { AuditContext } from '../../audit/entry.js';
import type { LogEvent } from '../../audit/events.js';
import { record } from '../../audit/record.js';
import type { SystemKeys } from '../../crypto/system-keys.js';
import { offsetPage, pageAsked } from '../../http/paging/pages.js';
import { AppError, storageUnavailable, validationFailed } from '../../kernel/errors.js';
import { isUuid, newId } from '../../kernel/ids.js';
import { createKeyedLock } from '../../kernel/keyed-lock.js';
import type { Secret } from '../../kernel/secret.js';
import { isMailAddress } from '../../mail/address.js';
import type { Mail } from '../../mail/mail.js';
import { invitationMessage } from '../../mail/messages/invitation.js';
import { PortalLink } from '../../mail/messages/portal-link.js';
import { emailKeyOf } from '../../people/email.js';
import { findUserByEmail } from '../../people/users/queries.js';
import type { TenantTx } from '../../storage/scope.js';
import { beforeWriting } from '../../storage/unwritten.js';
import { findMemberByUser } from '../members/index.js';
import type { InvitationBoundsOptions } from './bounds/invitation-bounds.js';
import { refuseTooManyInvitations } from './bounds/invitation-bounds.js';
import { INVITATION_EVENTS } from './events.js';
import type { StoredInvitation } from './queries.js';
import {
  countInvitations,
  deleteInvitation,
  findInvitation,
  insertInvitation,
  listInvitations,
  lockInvitation,
  renewInvitation,
} from './queries.js';
import type {
  InvitationBody,
  InvitationCreate,
  InvitationList,
  InvitationsQuery,
  InvitationWithLinkBody,
} from './schema.js';
import { grantOf, invitationBodyOf, newInvitationSecret, withSecret } from './stored/invitation.js';

export interface InvitationsOptions extends InvitationBoundsOptions {
  readonly systemKeys: SystemKeys;
  /** Drops what this process remembers of a tenant's rights. */
  readonly forgetAccess: (tenantId: string) => void;
  /** Where the Portal is, without a slash at the end. */
  readonly portalUrl: () => string;
  /** Undefined where nothing can be sent: then links are shown to whoever invites. */
  readonly mail: Pick<Mail, 'enqueue' | 'wake'> | undefined;
  readonly tenantNameOf: (tenantId: string) => Promise<string>;
  readonly onInvited: (story: InvitationStory, auditContext: AuditContext) => void;
  readonly onInvitationAltered: (story: { readonly tenantId: string; readonly invitationId: string }) => void;
}

/** A line of the operator's security log. */
export interface InvitationStory {
  readonly event: LogEvent;
  readonly tenantId: string;
  readonly invitationId: string;
  readonly role: string;
}

type Id = string | undefined;

export interface Invitations {
  create(principal: Principal, auditContext: AuditContext, input: InvitationCreate): Promise<InvitationWithLinkBody>;
  list(tenantId: string, query: InvitationsQuery, nowMs: number): Promise<InvitationList>;
  get(tenantId: string, id: Id, nowMs: number): Promise<InvitationBody>;
  resend(principal: Principal, auditContext: AuditContext, id: Id): Promise<InvitationWithLinkBody>;
  remove(tenantId: string, auditContext: AuditContext, id: Id): Promise<void>;
}

export function createInvitations(options: InvitationsOptions): Invitations {
  return { ...readsOf(options), ...invitesOf(options) };
}

function readsOf(options: InvitationsOptions): Pick<Invitations, 'list' | 'get' | 'remove'> {
  const { database } = options;
  const bodyOf = (tenantId: string, row: StoredInvitation, nowMs: number) =>
    invitationBodyOf(tenantId, verified(options, tenantId, row), nowMs);
  return {
    async list(tenantId, query, nowMs) {
      const { page, size, offset } = pageAsked(query);
      const filter = { status: query.status, nowMs };
      const [rows, total] = await database.readPage(tenantId, (tx) =>
        Promise.all([listInvitations(tx, filter, size, offset), countInvitations(tx, filter)]),
      );
      return {
        pagination: offsetPage({ total, page, size }),
        data: rows.map((row) => bodyOf(tenantId, row, nowMs)),
      };
    },

    async get(tenantId, given, nowMs) {
      const id = invitationIdOf(given);
      const row = await database.read(tenantId, (tx) => findInvitation(tx, id));
      if (!row) throw noSuchInvitation();
      return bodyOf(tenantId, row, nowMs);
    },

    async remove(tenantId, auditContext, given) {
      const id = invitationIdOf(given);
      await database.write(tenantId, async (tx) => {
        const isGone = await deleteInvitation(tx, id);
        beforeWriting(() => {
          if (!isGone) throw noSuchInvitation();
        });
        await record(tx, auditContext, { event: INVITATION_EVENTS.deleted, entityId: id, outcome: 'success' });
      });
    },
  };
}

function invitesOf(options: InvitationsOptions): Pick<Invitations, 'create' | 'resend'> {
  const { database, systemKeys } = options;
  const inTurn = createKeyedLock();
  const invited = async (work: Promise<InvitationWithLinkBody | AppError>, told: Told) => {
    const outcome = await work;
    if (outcome instanceof AppError) throw outcome;
    const { tenant_id: tenantId, id: invitationId, role } = outcome;
    options.mail?.wake();
    options.onInvited({ event: told.event, tenantId, invitationId, role }, told.auditContext);
    return outcome;
  };
  return {
    async create(principal, auditContext, { email, role = 'ADMIN' }) {
      refuseHigherRole(principal, role);
      const { tenantId } = principal;
      if (options.mail && !isMailAddress(email)) throw validationFailed({ email: ['cannot be sent mail'] });
      const emailKey = emailKeyOf(email);
      await refuseTooManyInvitations(options, tenantId, emailKey);
      const userId = await database.readPeople((tx) => findUserByEmail(tx, emailKey));
      const made = await toldOf(options, tenantId, auditContext, INVITATION_EVENTS.created);
      const work = database.write(tenantId, async (tx) => {
        const isMember = userId !== undefined && (await findMemberByUser(tx, userId)) !== undefined;
        if (isMember) return alreadyMember();
        const who = { id: newId(), email, email_key: emailKey, role, ...madeBy(auditContext) };
        const row = withSecret(systemKeys, tenantId, who, made.secret, auditContext);
        await insertInvitation(tx, row);
        return conclude(options, tx, row, made);
      });
      return invited(work, made);
    },

    async resend(principal, auditContext, given) {
      const { tenantId } = principal;
      const id = invitationIdOf(given);
      const before = await database.read(tenantId, (tx) => findInvitation(tx, id));
      if (before) await refuseTooManyInvitations(options, tenantId, before.email_key);
      const made = await toldOf(options, tenantId, auditContext, INVITATION_EVENTS.resent);
      const work = inTurn(`${tenantId} ${id}`, () =>
        database.write(tenantId, async (tx) => {
          const found = await lockInvitation(tx, id);
          if (!found) return noSuchInvitation();
          const { role } = verified(options, tenantId, found);
          // Who has the link has the role.
          beforeWriting(() => isGivenRole(role) && refuseHigherRole(principal, role));
          const changed = { modified_by: auditContext.actor?.id ?? null, modified_at: new Date(auditContext.atMs) };
          const row = withSecret(systemKeys, tenantId, { ...found, ...changed }, made.secret, auditContext);
          await renewInvitation(tx, row);
          return conclude(options, tx, row, made);
        }),
      );
      return invited(work, made);
    },
  };
}

interface Told {
  readonly event: LogEvent;
  readonly auditContext: AuditContext;
  readonly secret: Secret<string>;
  /** For the mail. */
  readonly tenantName: string;
}

async function toldOf(
  { mail, tenantNameOf }: InvitationsOptions,
  tenantId: string,
  auditContext: AuditContext,
  event: LogEvent,
): Promise<Told> {
  const tenantName = mail ? await tenantNameOf(tenantId) : '';
  return { auditContext, secret: newInvitationSecret(mail ? 'mailed' : 'shown'), event, tenantName };
}

/** The last words of both: the link by mail or in the answer, the entry, the answer to be repeated. */
async function conclude(
  { portalUrl, mail }: InvitationsOptions,
  tx: TenantTx,
  row: StoredInvitation,
  { event, auditContext, secret, tenantName }: Told,
): Promise<InvitationWithLinkBody> {
  const link = new PortalLink(portalUrl(), '/portal/invitations/accept', secret);
  const values = { tenantName, inviter: undefined, role: row.role, expiresAtMs: row.expires_at.getTime(), link };
  await mail?.enqueue(tx, { recipient: row.email, message: invitationMessage(values) });
  const shown = invitationBodyOf(tx.tenantId, row, auditContext.atMs);
  const body = mail ? shown : { ...shown, link: link.reveal() };
  await record(tx, auditContext, { event, entityId: row.id, outcome: 'success' });
  await auditContext.keepAnswer?.(tx, body);
  return body;
}

function madeBy({ actor, atMs }: AuditContext) {
  return { created_by: actor?.id ?? null, created_at: new Date(atMs), modified_by: null, modified_at: null };
}

/** Throws unless the row is as the product wrote it. */
function verified(options: InvitationsOptions, tenantId: string, row: StoredInvitation): StoredInvitation {
  if (isInvitationMacValid(options.systemKeys.rowMac, grantOf(tenantId, row), row.mac)) return row;
  options.onInvitationAltered({ tenantId, invitationId: row.id });
  throw storageUnavailable(new Error('an invitation was changed outside the product'));
}

function invitationIdOf(given: Id): string {
  if (given !== undefined && isUuid(given)) return given.toLowerCase();
  throw noSuchInvitation();
}

function noSuchInvitation(): AppError {
  return new AppError('not_found', 'There is no such invitation. GET /tenants/self/invitations lists those there are.');
}

function alreadyMember(): AppError {
  return new AppError('already_member', 'This address belongs to a member of the Tenant already.');
}
