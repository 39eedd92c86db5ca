import type { AuditContext } from '../../../audit/entry.js';
import { WithCookie } from '../../../http/routes/route.js';
import type { People } from '../../../people/people.js';
import type { SignedIn } from '../../../people/sessions/portal-sessions.js';
import type { Entered, Visitor } from '../../../people/sign-in/entrance.js';
import { cookiesOf } from './cookie.js';
import type { OwnTenantOptions } from './own-tenant.js';

/** What a call gave a user rights by, and its session from then on; undefined where that has ended meanwhile. */
export interface Gained<T> {
  readonly body: T;
  readonly entered: Entered | undefined;
}

export interface GainedRightsOptions extends Pick<OwnTenantOptions, 'noteVisit'> {
  readonly people: Pick<People, 'accounts'>;
}

/** After a user became a member: whoever knew the cookie of before does not come along. The tenant's log has that it was here. */
export async function gainRights<T>(
  { people, noteVisit }: GainedRightsOptions,
  { signedIn, visitor }: { readonly signedIn: SignedIn; readonly visitor: Visitor },
  { tenantId, memberId, body }: { readonly tenantId: string; readonly memberId: string; readonly body: T },
  auditContext: AuditContext,
): Promise<Gained<T>> {
  const entered = await people.accounts.rotate(signedIn, visitor);
  await noteVisit({ tenantId, memberId, session: entered?.session ?? signedIn }, auditContext);
  return { body, entered };
}

export function gainedAnswer<T>({ body, entered }: Gained<T>): WithCookie {
  return new WithCookie(body, ...(entered ? cookiesOf(entered) : []));
}
