import { hash, type KeyObject, randomBytes } from 'node:crypto';
import { hashApiKey } from '../crypto/keyed-hash.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import type { Database } from '../storage/database.js';
import type { Memory } from '../storage/memory.js';
import { isSessionKey, isWellFormedApiKey } from './api-key.js';
import { createApiKeyReader } from './api-key-reader.js';
import type { Credential, StoredRightsOptions } from './credential.js';
import { createStoredRights } from './credential.js';
import type { Application, Session } from './principal.js';
import type { SessionGrants } from './session-key-reader.js';
import { createSessionKeyReader } from './session-key-reader.js';

export interface AuthenticateOptions extends StoredRightsOptions {
  readonly database: Database;
  readonly memory: Memory<Credential>;
  readonly clock: Clock;
  readonly pepper: KeyObject;
  readonly sessionGrants: SessionGrants;
  /** Called for every authenticated request, so it must cost next to nothing. */
  readonly noteUse: (credential: Credential) => void;
}

/** As many as leave salt and key within one block of the hash. */
const SALT_BYTES = 11;

/** Who a key belongs to: at once for a key it remembers, and with a promise for one it must look up. */
export type Authenticate = (apiKey: string | undefined) => Application | Session | Promise<Application | Session>;

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { memory, clock } = options;
  const rights = createStoredRights(options);
  const readApiKey = createApiKeyReader({ ...options, rights });
  const readSessionKey = createSessionKeyReader({ ...options, rights });
  // What is remembered is found by a hash that means nothing outside this process. It costs a fifth of the keyed hash
  // the database is asked by, and the key itself is not kept either way.
  const salt = randomBytes(SALT_BYTES).toString('base64url');

  async function load(apiKey: string): Promise<Credential | undefined> {
    if (!isWellFormedApiKey(apiKey)) return undefined;
    const keyHash = hashApiKey(options.pepper, apiKey);
    return isSessionKey(apiKey) ? readSessionKey(keyHash) : readApiKey(keyHash);
  }

  /** A session without rights is about to get some, so it is not remembered: they then hold everywhere at once. */
  async function loadSettled(apiKey: string): Promise<Credential | undefined> {
    const found = await load(apiKey);
    return found && isPending(found) ? undefined : found;
  }

  async function principalOfLoaded(apiKey: string, found: Credential | undefined): Promise<Application | Session> {
    return principalOf(found ?? (isSessionKey(apiKey) ? await load(apiKey) : undefined));
  }

  function principalOf(credential: Credential | undefined): Application | Session {
    if (credential === undefined || isOver(credential)) throw invalidApiKey();
    options.noteUse(credential);
    return credential.principal;
  }

  /** Most keys never expire, and reading the clock takes as long as finding the key. */
  function isOver({ expiresAtMs }: Credential): boolean {
    return expiresAtMs !== Infinity && clock.nowMs() >= expiresAtMs;
  }

  return (apiKey) => {
    if (apiKey === undefined || apiKey === '') throw missingApiKey();
    const found = memory.find(hash('sha256', salt + apiKey, 'hex'), () => loadSettled(apiKey));
    return found instanceof Promise
      ? found.then((credential) => principalOfLoaded(apiKey, credential))
      : principalOf(found);
  };
}

function isPending({ principal }: Credential): boolean {
  return principal.kind === 'session' && !principal.isAuthorized;
}

function missingApiKey(): AppError {
  return new AppError('missing_api_key', 'The API key is missing. Send the key of an Application.');
}

function invalidApiKey(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid. Check it, or ask for a new one.');
}
