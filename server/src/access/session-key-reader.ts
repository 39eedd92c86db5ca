import type { KeyObject } from 'node:crypto';
import type { Database } from '../storage/database.js';
import type { Credential, StoredRights } from './credential.js';
import { earliest } from './credential.js';
import { grantsOf, heldBy } from './grants.js';
import type { SessionCredentialRow } from './queries.js';
import { findSessionByHash } from './queries.js';
import { isKeyMacValid, isSessionMacValid } from './row-macs.js';

/** Whether a session is held to what the Application that authorized it may do. */
export type SessionGrants = 'held' | 'any';

export interface SessionKeyReaderOptions {
  readonly database: Pick<Database, 'readCredential'>;
  readonly rowMacKey: KeyObject;
  readonly sessionGrants: SessionGrants;
  readonly rights: StoredRights;
}

/**
 * Finds the session behind a key by the key's hash. Undefined if there is none, or if an Application or key it depends
 * on is gone.
 */
export type SessionKeyReader = (keyHash: Buffer) => Promise<Credential | undefined>;

/**
 * Requests of a session do not count as use of the key that authorized it: no hour is later than this one, so none is
 * stored.
 */
const NOT_COUNTED = 2 ** 30;

export function createSessionKeyReader(options: SessionKeyReaderOptions): SessionKeyReader {
  const { database } = options;
  const credentialOf = createSessionRows(options);
  return async (keyHash) =>
    credentialOf(await database.readCredential((tx) => findSessionByHash(tx, keyHash)), keyHash);
}

/** Reads the rows of one session, once each is known to be as the product wrote it. */
export function createSessionRows(options: Omit<SessionKeyReaderOptions, 'database'>) {
  const { rowMacKey, rights } = options;

  /** Older sessions do not name a key and work without one. */
  function isKeyThere(row: SessionCredentialRow): boolean {
    const {
      tenant_id: tenantId,
      application_id: applicationId,
      authorized_key: id,
      key_hash: hash,
      key_mac: mac,
    } = row;
    if (id === null) return true;
    if (hash === null || mac === null) return false;
    const key = { hash, tenantId, applicationId, id, expiresAt: row.key_expires_at };
    return isKeyMacValid(rowMacKey, key, mac) || rights.refuse({ tenantId, applicationId, sessionId: row.session_id });
  }

  function refuseAltered(row: SessionCredentialRow, keyHash: Buffer): void {
    if (isSessionMacValid(rowMacKey, sessionRowOf(row, keyHash), row.session_mac)) return;
    rights.refuse({ tenantId: row.tenant_id, applicationId: row.created_by, sessionId: row.session_id });
  }

  return (rows: readonly SessionCredentialRow[], keyHash: Buffer): Credential | undefined => {
    for (const row of rows) refuseAltered(row, keyHash);
    const creator = rows.find((row) => row.application_id === row.created_by);
    if (creator === undefined) return undefined;
    // Its MAC is checked even where its rights do not count.
    rights.of(creator.tenant_id, creator);
    if (creator.authorized_by === null) return pending(creator);
    const authorizer = rows.find((row) => row.application_id === row.authorized_by);
    if (authorizer === undefined || !isKeyThere(authorizer)) return undefined;
    return authorized(options, creator, authorizer);
  };
}

/** Until it is authorized it may do nothing. */
function pending(creator: SessionCredentialRow): Credential {
  return {
    principal: {
      ...sessionOf(creator, creator.created_by),
      isAuthorized: false,
      permissions: new Set(),
      grants: [{ permissions: new Set(), rules: [] }],
    },
    expiresAtMs: earliest(creator.session_expires_at, creator.application_expires_at),
    usedHour: NOT_COUNTED,
    usedRound: 0,
  };
}

function authorized(
  { rights, sessionGrants }: Omit<SessionKeyReaderOptions, 'database'>,
  creator: SessionCredentialRow,
  authorizer: SessionCredentialRow,
): Credential {
  const { grants: cap } = rights.of(creator.tenant_id, authorizer);
  const own = grantsOf('session', creator.session_permissions, creator.session_rules);
  const grants = sessionGrants === 'held' ? [own, cap] : [own];
  const [held, ...caps] = grants.map(heldBy);
  return {
    principal: {
      ...sessionOf(creator, authorizer.application_id),
      isAuthorized: true,
      permissions: new Set([...(held ?? [])].filter((name) => caps.every((other) => other.has(name)))),
      grants,
    },
    expiresAtMs: earliest(
      creator.session_expires_at,
      creator.application_expires_at,
      authorizer.application_expires_at,
      authorizer.key_expires_at,
    ),
    usedHour: NOT_COUNTED,
    usedRound: 0,
  };
}

function sessionOf({ tenant_id: tenantId, session_id: id }: SessionCredentialRow, applicationId: string) {
  return { kind: 'session', tenantId, applicationId, actor: { type: 'session', id } } as const;
}

function sessionRowOf(row: SessionCredentialRow, hash: Buffer) {
  return {
    hash,
    nonceHash: row.nonce_hash,
    tenantId: row.tenant_id,
    id: row.session_id,
    createdBy: row.created_by,
    authorizedBy: row.authorized_by,
    authorizedKey: row.authorized_key,
    permissions: row.session_permissions,
    rules: row.session_rules,
    expiresAt: row.session_expires_at,
  };
}
