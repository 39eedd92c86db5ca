import type { AuditContext } from '../../../audit/entry.js';
import { formatDate } from '../../../kernel/dates.js';
import { secondFactorIssuers } from '../../../people/oidc/issuer-texts.js';
import type { People } from '../../../people/people.js';
import { listLackingOf } from '../../../people/rules/queries.js';
import type { SignedIn } from '../../../people/sessions/portal-sessions.js';
import type { Database } from '../../../storage/database.js';
import type { MembersOptions, MembersQuery } from '../../members/index.js';
import { createMembers, listSeen, MEMBER_EVENTS } from '../../members/index.js';
import type { PortalMemberList } from '../schema.js';
import type { OwnTenantOptions } from './own-tenant.js';
import { ownTenant } from './own-tenant.js';

export interface MemberListOptions extends OwnTenantOptions, MembersOptions {
  readonly database: Database;
  readonly people: People;
}

const ASKING = {
  permission: 'tenant:member:read',
  onRead: MEMBER_EVENTS.listed,
  onDenied: MEMBER_EVENTS.denied,
} as const;

/** The members of a tenant as the page shows them: also when each was last here, and whether it has a second factor. */
export function createMemberList(options: MemberListOptions) {
  const { list } = createMembers(options);
  return async (
    signedIn: SignedIn,
    named: string | undefined,
    query: MembersQuery,
    auditContext: AuditContext,
  ): Promise<PortalMemberList> => {
    const { tenantId } = await ownTenant(options, signedIn, named, { ...ASKING, auditContext });
    const { pagination, data } = await list(tenantId, query);
    const ids = data.map(({ id }) => id);
    const trusted = secondFactorIssuers(options.people.identities.issuers());
    const [seen, lacking] = await Promise.all([
      options.database.read(tenantId, (tx) => listSeen(tx, ids)),
      options.database.readPeople((tx) => listLackingOf(tx, tenantId, trusted, ids)),
    ]);
    return {
      pagination,
      data: data.map((member) => {
        const seenAt = seen.get(member.id);
        return {
          ...member,
          has_second_factor: !lacking.has(member.id),
          ...(seenAt && { seen_at: formatDate(seenAt.getTime()) }),
        };
      }),
    };
  };
}
