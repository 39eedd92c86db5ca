import type { MemberRole } from '../../access/roles.js';
import { AppError } from '../../kernel/errors.js';
import type { SignedIn } from '../sessions/portal-sessions.js';

/** How members of a tenant have to sign in. */
export interface SignInRules {
  /** From then on with a second factor; undefined where none is asked for. */
  readonly secondFactorFromMs: number | undefined;
  /** With this issuer; undefined where every way is good. */
  readonly issuerId: string | undefined;
}

type Proof = Pick<SignedIn, 'hasSecondFactor' | 'issuer'>;

/**
 * Refuses a member who has to sign in another way. It stays a member. The issuer does not bind the owner, who needs a way back in
 * when the issuer is gone or was set by mistake.
 */
export function refuseByRules(rules: SignInRules, role: MemberRole, session: Proof, nowMs: number): void {
  const { secondFactorFromMs: fromMs, issuerId } = rules;
  if (fromMs !== undefined && nowMs >= fromMs && !session.hasSecondFactor) {
    throw new AppError(
      'second_factor_required',
      'This Tenant asks for a second factor. Add one to your account if you have none, then sign in with it.',
    );
  }
  if (issuerId !== undefined && session.issuer !== issuerId && role !== 'OWNER') {
    throw new AppError(
      'access_denied',
      'This Tenant asks its members to sign in with its OpenID Connect issuer. Sign out, then sign in with it.',
    );
  }
}
