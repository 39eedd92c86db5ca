import type { KeyObject } from 'node:crypto';
import { IntegrityError, isOpened } from '../../crypto/integrity-error.js';
import type { SystemSeal } from '../../crypto/system-seal.js';
import { createSystemSeal } from '../../crypto/system-seal.js';
import { withWiped } from '../../crypto/wiped.js';
import type { Clock } from '../../kernel/clock.js';
import { storageUnavailable } from '../../kernel/errors.js';
import { Secret } from '../../kernel/secret.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { PeopleSecurity } from '../security.js';
import { spendRecoveryCode, spendStep } from './queries.js';
import { recoveryCodeHash } from './recovery-codes.js';
import { matchTotp, newTotpSecret } from './totp.js';

/** A code that looks right. Whether it was used before says `spend`. */
export type LikelyCode =
  | { readonly kind: 'authenticator'; readonly step: number }
  | { readonly kind: 'recovery'; readonly hash: Buffer };

/** The codes of a user's authenticator, and those that stand in for it. */
export interface OneTimeCodes {
  seal(userId: string, secret: Secret<string>): Buffer;
  /** One that is not in use yet. Whoever copies it to where those in use are makes none of it. */
  sealOffered(userId: string, secret: Secret<string>): Buffer;
  /** By its first code: as it is stored from now on, and the step of the code. Undefined for a wrong one. */
  confirm(
    userId: string,
    offered: Buffer,
    typed: string,
  ): { readonly sealed: Buffer; readonly step: number } | undefined;
  /**
   * Costs the same for a user who has no authenticator, and for nobody: what looks like a recovery code looks so for them too,
   * because looking for it is work that is seen from outside.
   */
  look(userId: string | undefined, sealed: Buffer | undefined, typed: string | undefined): LikelyCode | undefined;
  /** It works once; false where it was used, or is none. */
  spend(tx: PeopleTx, userId: string, code: LikelyCode): Promise<boolean>;
  hashesOf(userId: string, codes: readonly Secret<string>[]): Buffer[];
}

export interface OneTimeCodesOptions {
  readonly clock: Clock;
  readonly rowMacKey: KeyObject;
  readonly security: Pick<PeopleSecurity, 'onPeopleAltered'>;
}

const LABEL = 'strongroom/authenticator/1';
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Which column it is for. */
export type AuthenticatorField = 'secret' | 'offered secret';

const contextOf = (userId: string, field: AuthenticatorField) => ({
  ...{ kind: 'authenticator', entityId: userId, field, dataVersion: 1 },
});

export function createOneTimeCodes({ clock, rowMacKey, security }: OneTimeCodesOptions): OneTimeCodes {
  let made: SystemSeal | undefined;
  // With the first use: whoever only lists the routes has no keys.
  const seal = (): SystemSeal => (made ??= createSystemSeal(rowMacKey, LABEL));
  const sealFor = (userId: string, secret: Secret<string>, field: AuthenticatorField = 'secret'): Buffer =>
    withWiped(Buffer.from(secret.reveal()), (plaintext) => seal().seal(contextOf(userId, field), plaintext));
  let ofNobody: Buffer | undefined;

  function stepOf(userId: string, sealed: Buffer, typed: string): number | undefined {
    return matchTotp(opened(seal(), security, { userId, sealed, field: 'secret' }), typed, clock.nowMs());
  }

  return {
    seal: (userId, secret) => sealFor(userId, secret),
    sealOffered: (userId, secret) => sealFor(userId, secret, 'offered secret'),
    confirm(userId, offered, typed) {
      const secret = opened(seal(), security, { userId, sealed: offered, field: 'offered secret' });
      const step = matchTotp(secret, typed, clock.nowMs());
      return step === undefined ? undefined : { sealed: sealFor(userId, secret), step };
    },
    look(userId, sealed, typed = '') {
      ofNobody ??= sealFor(NOBODY, newTotpSecret());
      const step = stepOf((sealed && userId) ?? NOBODY, sealed ?? ofNobody, typed);
      const hash = recoveryCodeHash(rowMacKey, userId ?? NOBODY, typed);
      if (sealed !== undefined && step !== undefined) return { kind: 'authenticator', step };
      return hash && { kind: 'recovery', hash };
    },
    spend: (tx, userId, code) =>
      code.kind === 'authenticator' ? spendStep(tx, userId, code.step) : spendRecoveryCode(tx, userId, code.hash),
    hashesOf: (userId, codes) =>
      codes
        .map((code) => recoveryCodeHash(rowMacKey, userId, code.reveal()))
        .filter((hash): hash is Buffer => hash !== undefined),
  };
}

/** Whether what is stored of a user's authenticator opens. */
export function createAuthenticatorCheck(
  rowMacKey: KeyObject,
): (userId: string, sealed: Buffer, field: AuthenticatorField) => boolean {
  const seal = createSystemSeal(rowMacKey, LABEL);
  return (userId, sealed, field) => isOpened(() => withWiped(seal.open(contextOf(userId, field), sealed), () => {}));
}

function opened(
  seal: SystemSeal,
  security: Pick<PeopleSecurity, 'onPeopleAltered'>,
  { userId, sealed, field }: { readonly userId: string; readonly sealed: Buffer; readonly field: AuthenticatorField },
): Secret<string> {
  try {
    return withWiped(
      seal.open(contextOf(userId, field), sealed),
      (plaintext) => new Secret(plaintext.toString('utf8')),
    );
  } catch (error) {
    if (!(error instanceof IntegrityError)) throw error;
    security.onPeopleAltered({ userId });
    throw storageUnavailable(new Error('an authenticator was changed outside the product', { cause: error }));
  }
}
