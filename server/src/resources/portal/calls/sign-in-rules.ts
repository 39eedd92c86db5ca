import type { AuditContext } from '../../../audit/entry.js';
import { formatDate, parseDate } from '../../../kernel/dates.js';
import { AppError, validationFailed } from '../../../kernel/errors.js';
import { issuerTexts, secondFactorIssuers } from '../../../people/oidc/issuer-texts.js';
import type { Membership, People } from '../../../people/people.js';
import { type LackingRow, listWithoutIssuer, listWithoutSecondFactor } from '../../../people/rules/queries.js';
import { refuseByRules, type SignInRules } from '../../../people/rules/sign-in-rules.js';
import type { SignedIn } from '../../../people/sessions/portal-sessions.js';
import type { Database } from '../../../storage/database.js';
import { changeSignInRules, TENANT_EVENTS } from '../../tenants/index.js';
import type { NewSignInRules, SignInRulesBody } from '../schema.js';
import type { OwnTenantOptions } from './own-tenant.js';
import { ownTenant } from './own-tenant.js';

export interface SignInRulesOptions extends OwnTenantOptions {
  readonly database: Database;
  readonly people: People;
}

/** How members of a tenant have to sign in, and who could not. */
export interface TenantSignInRules {
  get(signedIn: SignedIn, tenantId: string | undefined, auditContext: AuditContext): Promise<SignInRulesBody>;
  set(
    signedIn: SignedIn,
    tenantId: string | undefined,
    given: NewSignInRules,
    auditContext: AuditContext,
  ): Promise<SignInRulesBody>;
}

/** More than anybody reads; the rest is told as there being more. */
const SHOWN_MAX = 1_000;

export function createTenantSignInRules(options: SignInRulesOptions): TenantSignInRules {
  const { database, clock } = options;
  return {
    async get(signedIn, named, auditContext) {
      const { tenantId, rules } = await ownTenant(options, signedIn, named, {
        ...{ permission: 'tenant:member:read', onRead: TENANT_EVENTS.retrieved, onDenied: TENANT_EVENTS.denied },
        auditContext,
      });
      return bodyOf(options, tenantId, rules);
    },
    async set(signedIn, named, given, auditContext) {
      const asking = { permission: 'tenant:update', onDenied: TENANT_EVENTS.denied, auditContext } as const;
      const membership = await ownTenant(options, signedIn, named, asking);
      const rules = rulesOf(options, given);
      refuseLockingOut(membership, signedIn, rules, clock.nowMs());
      const { tenantId } = membership;
      if (!(await database.write(tenantId, (tx) => changeSignInRules(tx, auditContext, rules)))) {
        throw new AppError('not_found', 'There is no such Tenant, or you are not a member of it.');
      }
      return bodyOf(options, tenantId, rules);
    },
  };
}

function rulesOf({ people }: SignInRulesOptions, given: NewSignInRules): SignInRules {
  const { second_factor_from: from, issuer_id: issuerId } = given;
  if (typeof issuerId === 'string' && !people.identities.issuers().some(({ id }) => id === issuerId)) {
    throw validationFailed({ issuer_id: ['is none of the issuers that the operator set'] });
  }
  const secondFactorFromMs = typeof from === 'string' ? (parseDate(from) ?? undefined) : undefined;
  return { secondFactorFromMs, issuerId: issuerId ?? undefined };
}

/** Whoever sets a rule can follow it: otherwise nobody might be left to take it back. */
function refuseLockingOut({ role }: Membership, signedIn: SignedIn, rules: SignInRules, nowMs: number): void {
  try {
    refuseByRules(
      { ...rules, ...(rules.secondFactorFromMs !== undefined && { secondFactorFromMs: 0 }) },
      role,
      signedIn,
      nowMs,
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const field = error.code === 'second_factor_required' ? 'second_factor_from' : 'issuer_id';
    throw validationFailed({ [field]: ['would lock you out: sign in that way yourself, then set it'] });
  }
}

async function bodyOf(
  { database, people }: SignInRulesOptions,
  tenantId: string,
  { secondFactorFromMs, issuerId }: SignInRules,
): Promise<SignInRulesBody> {
  const issuers = people.identities.issuers();
  const trusted = secondFactorIssuers(issuers);
  const wanted = issuers.filter(({ id }) => id === issuerId).flatMap(issuerTexts);
  const [lacking, strangers] = await database.readPeople(async (tx) => [
    await listWithoutSecondFactor(tx, tenantId, trusted, SHOWN_MAX),
    issuerId === undefined ? [] : await listWithoutIssuer(tx, tenantId, wanted, SHOWN_MAX),
  ]);
  return {
    ...(secondFactorFromMs !== undefined && { second_factor_from: formatDate(secondFactorFromMs) }),
    ...(issuerId !== undefined && { issuer_id: issuerId }),
    without_second_factor: lacking.map(lackingBodyOf),
    without_issuer: strangers.map(lackingBodyOf),
  };
}

function lackingBodyOf({ id, user_id, role, email }: LackingRow) {
  return { member_id: id, user_id, role, ...(email !== null && { email }) };
}
