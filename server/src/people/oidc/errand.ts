import type { KeyObject } from 'node:crypto';
import { IntegrityError } from '../../crypto/integrity-error.js';
import type { SystemSeal } from '../../crypto/system-seal.js';
import { createSystemSeal } from '../../crypto/system-seal.js';
import { isUuid, newId } from '../../kernel/ids.js';
import { isJsonObject } from '../../kernel/json-object.js';
import { Secret } from '../../kernel/secret.js';
import { OIDC_TRANSACTION_MS } from './transaction.js';

/** Why somebody was sent to an issuer. */
export type Errand =
  /** With the session to end in favour of the new one, where there is one. */
  | { readonly kind: 'sign-in'; readonly sessionId?: string; readonly userId?: string }
  /** To have the identity added to who is signed in. */
  | { readonly kind: 'link'; readonly sessionId: string; readonly userId: string }
  /** To accept an invitation as a newcomer. */
  | { readonly kind: 'register'; readonly secret: string };

/** Beside the one of the session, which does not come with a request that another site began. */
export const ERRAND_COOKIE = '__Host-strongroom_oidc';
export const ERRAND_SECONDS = OIDC_TRANSACTION_MS / 1_000;

/** What a browser keeps while it is at the issuer: sealed, so that nobody reads or changes it on the way. */
export interface ErrandSeal {
  seal(errand: Errand, transaction: unknown, device: Secret<string> | undefined): Secret<string>;
  /** Undefined for what was not sealed here. */
  open(given: Secret<string> | undefined): Kept | undefined;
}

export interface Kept {
  /** Of its own for each time that somebody is sent away. */
  readonly id: string;
  readonly errand: Errand;
  readonly transaction: unknown;
  /** By which the browser is known: this cookie does not come back with it either. */
  readonly device: Secret<string> | undefined;
}

const LABEL = 'strongroom/oidc-errand/1';
const CHARACTERS_MAX = 4_000;
const ID_CHARACTERS = 36;

const contextOf = (id: string) => ({ kind: 'oidc-errand', entityId: id, field: 'cookie', dataVersion: 1 });

export function createErrandSeal(rowMacKey: KeyObject): ErrandSeal {
  let made: SystemSeal | undefined;
  // With the first use: whoever only lists the routes has no keys.
  const seal = (): SystemSeal => (made ??= createSystemSeal(rowMacKey, LABEL));
  return {
    seal(errand, transaction, device) {
      const id = newId();
      const sealed = seal().seal(
        contextOf(id),
        Buffer.from(JSON.stringify({ errand, transaction, device: device?.reveal() })),
      );
      return new Secret(`${id}${sealed.toString('base64url')}`);
    },
    open(given) {
      const text = given?.reveal() ?? '';
      const id = text.slice(0, ID_CHARACTERS);
      if (text.length > CHARACTERS_MAX || !isUuid(id)) return undefined;
      try {
        const opened = seal().open(contextOf(id), Buffer.from(text.slice(ID_CHARACTERS), 'base64url'));
        const value: unknown = JSON.parse(opened.toString('utf8'));
        if (!isJsonObject(value)) return undefined;
        const { errand, transaction, device } = value;
        const known = typeof device === 'string' ? new Secret(device) : undefined;
        return { id, errand: errand as unknown as Errand, transaction, device: known }; // We sealed it.
      } catch (error) {
        if (error instanceof IntegrityError || error instanceof RangeError) return undefined;
        throw error;
      }
    },
  };
}
