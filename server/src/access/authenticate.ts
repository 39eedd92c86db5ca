import { hash, type KeyObject, randomBytes } from 'node:crypto';
import { hashApiKey } from '../crypto/keyed-hash.js';
import type { Clock } from '../kernel/clock.js';
import { AppError, storageUnavailable } from '../kernel/errors.js';
import type { Database } from '../storage/database.js';
import type { Memory } from '../storage/memory.js';
import { isWellFormedApiKey } from './api-key.js';
import type { ApplicationType } from './permissions.js';
import { APPLICATION_TYPES, isPermission, mayHold } from './permissions.js';
import type { Principal } from './principal.js';
import type { CredentialRow } from './queries.js';
import { findCredentialByHash } from './queries.js';
import { isKeyMacValid, isRightsMacValid } from './row-macs.js';

/** A key that exists: whose it is and until when it works. */
export interface Credential {
  readonly principal: Principal;
  readonly expiresAtMs: number;
}

export interface AuthenticateOptions {
  readonly database: Database;
  readonly memory: Memory<Credential>;
  readonly clock: Clock;
  readonly pepper: KeyObject;
  readonly rowMacKey: KeyObject;
  /** Told when a stored row was changed behind the product's back. */
  readonly onIntegrityFault: (story: { tenantId: string; applicationId: string }) => void;
}

/** Answers at once for a key it remembers, and with a promise for one it must look up. */
export type Authenticate = (apiKey: string | undefined) => Principal | Promise<Principal>;

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { memory, clock, database } = options;
  // What is remembered is found by a hash that means nothing outside this process. It costs a fifth of the keyed hash
  // the database is asked by, and the key itself is not kept either way.
  const salt = randomBytes(16).toString('hex');

  async function load(apiKey: string): Promise<Credential | undefined> {
    if (!isWellFormedApiKey(apiKey)) return undefined;
    const keyHash = hashApiKey(options.pepper, apiKey);
    const row = await database.lookUp((tx) => findCredentialByHash(tx, keyHash));
    return row === undefined ? undefined : { principal: principalOf(row, keyHash), expiresAtMs: earliestExpiry(row) };
  }

  function principalOf(row: CredentialRow, keyHash: Buffer): Principal {
    const { tenant_id: tenantId, application_id: id, permissions: names } = row;
    const key = { hash: keyHash, tenantId, applicationId: id, id: row.key_id, expiresAt: row.key_expires_at };
    const rights = { tenantId, id, type: row.type, permissions: names, expiresAt: row.application_expires_at };
    const isGenuine =
      isKeyMacValid(options.rowMacKey, key, row.key_mac) && isRightsMacValid(options.rowMacKey, rights, row.mac);
    if (!isApplicationType(row.type) || !isGenuine) {
      options.onIntegrityFault({ tenantId, applicationId: id });
      throw storageUnavailable(new Error('the rights of this application were changed outside the product'));
    }
    const type = row.type;
    const permissions = new Set(names.filter(isPermission).filter((name) => mayHold(type, name)));
    return {
      tenantId,
      applicationId: id,
      applicationType: type,
      actor: { type: 'application', id },
      permissions,
      grants: [{ permissions, rules: [] }],
    };
  }

  function admit(credential: Credential | undefined): Principal {
    if (credential === undefined || clock.nowMs() >= credential.expiresAtMs) throw invalidApiKey();
    return credential.principal;
  }

  return (apiKey) => {
    if (apiKey === undefined || apiKey === '') throw missingApiKey();
    const found = memory.find(hash('sha256', salt + apiKey, 'hex'), () => load(apiKey));
    return found instanceof Promise ? found.then(admit) : admit(found);
  };
}

function missingApiKey(): AppError {
  return new AppError('missing_api_key', 'The API key header is missing. Send the key of an Application in it.');
}

function invalidApiKey(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid. Check it, or ask for a new one.');
}

function isApplicationType(text: string): text is ApplicationType {
  return (APPLICATION_TYPES as readonly string[]).includes(text);
}

function earliestExpiry(row: CredentialRow): number {
  return Math.min(
    row.application_expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
    row.key_expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
  );
}
