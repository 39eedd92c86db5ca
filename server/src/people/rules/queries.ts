import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import { hasSecondFactorSql } from '../factors/second-factor-queries.js';

/** A member who could not come in. */
export interface LackingRow {
  readonly id: string;
  readonly user_id: string;
  readonly role: string;
  readonly email: string | null;
}

const HAS_NONE = `NOT ${hasSecondFactorSql('m.user_id', '$2')}`;

/** On a distributed database members are elsewhere than what people sign in with, and are fetched first. */
const MEMBERS_HERE = 'WITH m AS MATERIALIZED (SELECT id, user_id, role FROM members WHERE tenant_id = $1)';

const LIST_WITHOUT_SECOND_FACTOR = statement<LackingRow>(
  'list_without_second_factor',
  `SELECT m.id, m.user_id, m.role, u.email FROM members m JOIN users u ON u.id = m.user_id
   WHERE m.tenant_id = $1 AND ${HAS_NONE}
   ORDER BY m.id LIMIT $3`,
  `${MEMBERS_HERE} SELECT m.id, m.user_id, m.role, u.email FROM m JOIN users u ON u.id = m.user_id
   WHERE ${HAS_NONE} ORDER BY m.id LIMIT $3`,
);

/** Members without an authenticator, a passkey, or an identity of an issuer that asks for a second factor itself. */
export async function listWithoutSecondFactor(
  tx: PeopleTx,
  tenantId: string,
  issuers: readonly string[],
  limit: number,
): Promise<LackingRow[]> {
  return tx.run(LIST_WITHOUT_SECOND_FACTOR, [tenantId, issuers, limit]);
}

const LIST_LACKING_OF = statement<{ id: string }>(
  'list_lacking_second_factor_of',
  `SELECT m.id FROM members m WHERE m.tenant_id = $1 AND m.id = ANY ($3::uuid[]) AND ${HAS_NONE}`,
  `${MEMBERS_HERE} SELECT m.id FROM m WHERE m.id = ANY ($3::uuid[]) AND ${HAS_NONE}`,
);

/** Which of these members have no second factor. */
export async function listLackingOf(
  tx: PeopleTx,
  tenantId: string,
  issuers: readonly string[],
  memberIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await tx.run(LIST_LACKING_OF, [tenantId, issuers, memberIds])).map(({ id }) => id));
}

const LIST_WITHOUT_ISSUER = statement<LackingRow>(
  'list_without_issuer',
  `SELECT m.id, m.user_id, m.role, u.email FROM members m JOIN users u ON u.id = m.user_id
   WHERE m.tenant_id = $1 AND m.role <> 'OWNER'
     AND NOT EXISTS (SELECT FROM user_identities i WHERE i.user_id = m.user_id AND i.issuer = ANY ($2::text[]))
   ORDER BY m.id LIMIT $3`,
  `${MEMBERS_HERE} SELECT m.id, m.user_id, m.role, u.email FROM m JOIN users u ON u.id = m.user_id
   WHERE m.role <> 'OWNER'
     AND NOT EXISTS (SELECT FROM user_identities i WHERE i.user_id = m.user_id AND i.issuer = ANY ($2::text[]))
   ORDER BY m.id LIMIT $3`,
);

/** Members, but for the owner, for whom the issuer does not vouch yet. */
export async function listWithoutIssuer(
  tx: PeopleTx,
  tenantId: string,
  issuers: readonly string[],
  limit: number,
): Promise<LackingRow[]> {
  return tx.run(LIST_WITHOUT_ISSUER, [tenantId, issuers, limit]);
}
