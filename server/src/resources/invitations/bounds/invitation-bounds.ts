import { AppError } from '../../../kernel/errors.js';
import type { People } from '../../../people/people.js';
import type { Backoff } from '../../../people/sign-in/backoff.js';
import { findTenantOwner } from '../../../people/users/queries.js';
import type { MailCount } from '../../../people/way-back/mail-bounds.js';
import type { Database } from '../../../storage/database.js';

export interface InvitationBoundsOptions {
  readonly database: Database;
  readonly people: Pick<People, 'mailBounds' | 'hasMail'>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A tenant may invite a whole company, then one person a minute. */
const TENANT_BACKOFF: Backoff = { freeFailures: 999, delayMaxMs: MINUTE_MS };
/** People ask for another link. */
const TENANT_TO_ADDRESS_BACKOFF: Backoff = { freeFailures: 2, firstDelayMs: MINUTE_MS, delayMaxMs: HOUR_MS };
/** Over all tenants of an owner. Not over those of all owners: then one of them could keep the others from inviting a person. */
const OWNER_TO_ADDRESS_BACKOFF: Backoff = { freeFailures: 19, firstDelayMs: MINUTE_MS, delayMaxMs: HOUR_MS };

/** Counts an invitation that is about to be made or sent again. 429 where the tenant, or whom it writes to, has had too many. */
export async function refuseTooManyInvitations(
  { database, people }: InvitationBoundsOptions,
  tenantId: string,
  emailKey: string,
): Promise<void> {
  const byTenant: MailCount = { kind: 'invitation by tenant', text: tenantId, backoff: TENANT_BACKOFF };
  const ofMail = (ownerId: string): readonly MailCount[] => [
    {
      kind: 'invitation of tenant to address',
      text: `${tenantId} ${emailKey}`,
      backoff: TENANT_TO_ADDRESS_BACKOFF,
    },
    { kind: 'invitation of owner to address', text: `${ownerId} ${emailKey}`, backoff: OWNER_TO_ADDRESS_BACKOFF },
  ];
  const waitMs = await database.people(async (tx) => {
    // A link that is shown is sent to nobody.
    const further = people.hasMail ? ofMail((await findTenantOwner(tx, tenantId)) ?? tenantId) : [];
    return people.mailBounds.pass(tx, [byTenant, ...further]);
  });
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  throw new AppError('rate_limited', `Too many invitations. Wait ${seconds} second(s), then try again.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
