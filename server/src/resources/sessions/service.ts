import { generateApiKey, generateNonce } from '../../access/api-key.js';
import type { IntegrityStory } from '../../access/credential.js';
import { NO_RULES, rulesText } from '../../access/grants.js';
import type { Application } from '../../access/principal.js';
import { isSessionMacValid, sessionMac } from '../../access/row-macs.js';
import type { AuditContext } from '../../audit/entry.js';
import { record } from '../../audit/record.js';
import { hashApiKey } from '../../crypto/keyed-hash.js';
import type { SystemKeys } from '../../crypto/system-keys.js';
import { formatDate } from '../../kernel/dates.js';
import { AppError, storageUnavailable, validationFailed } from '../../kernel/errors.js';
import { isUuid, newId } from '../../kernel/ids.js';
import { announce } from '../../storage/changes.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { beforeWriting } from '../../storage/unwritten.js';
import { checkTimedRights, SESSION_END_EVENTS } from '../applications/index.js';
import { SESSION_EVENTS } from './events.js';
import type { StoredSession } from './queries.js';
import { authorizeSession, deleteSession, findSessionByNonce, insertSession } from './queries.js';
import type { SessionAuthorize, SessionBody } from './schema.js';

export interface SessionsOptions {
  readonly database: Database;
  readonly systemKeys: SystemKeys;
  /** Drops what this process remembers of a tenant's credentials, before the answer goes out. */
  readonly forgetAccess: (tenantId: string) => void;
  readonly onIntegrityFault: (story: IntegrityStory) => void;
}

export interface Sessions {
  /** A session without rights, for the caller to have authorized soon. */
  create(principal: Application, auditContext: AuditContext): Promise<SessionBody>;
  /** Gives the session of a nonce its rights, once. */
  authorize(principal: Application, auditContext: AuditContext, input: SessionAuthorize): Promise<void>;
  /** Ends a session that the caller's Application created or authorized. */
  end(principal: Application, auditContext: AuditContext, id: string): Promise<void>;
}

const NEW_SESSION_MS = 180_000;
const AHEAD_MAX_MS = 24 * 3_600_000;

export function createSessions(options: SessionsOptions): Sessions {
  const { database, systemKeys } = options;
  return {
    create: ({ tenantId, applicationId }, auditContext) =>
      database.write(tenantId, (tx) => storeSession(tx, systemKeys, auditContext, applicationId)),

    async authorize({ tenantId, applicationId, keyId }, auditContext, input) {
      const checked = checkTimedRights('session', input, { nowMs: auditContext.atMs, aheadMaxMs: AHEAD_MAX_MS });
      if ('errors' in checked) throw validationFailed(checked.errors);
      const { permissions, rules, expiresAt } = checked.rights;
      const nonceHash = nonceHashOf(systemKeys, input.nonce);
      // A refusal is handed back, not thrown: others share the transaction.
      const refusal = await database.write(tenantId, async (tx) => {
        const session = await findSessionByNonce(tx, nonceHash, auditContext.atMs);
        if (!session) return unknownNonce();
        beforeWriting(() => verify(options, tenantId, session));
        if (session.authorized_by !== null) return alreadyAuthorized();
        const row = sealed(systemKeys, tenantId, {
          ...session,
          authorized_by: applicationId,
          authorized_key: keyId,
          permissions,
          rules: rulesText(rules),
          expires_at: expiresAt ?? session.expires_at,
        });
        if (!(await authorizeSession(tx, row))) return alreadyAuthorized();
        await record(tx, auditContext, { event: SESSION_EVENTS.authorized, entityId: row.id, outcome: 'success' });
        await auditContext.keepAnswer?.(tx, undefined);
        return undefined;
      });
      if (refusal) throw refusal;
    },

    async end({ tenantId, applicationId }, auditContext, given) {
      if (!isUuid(given)) throw noSuchSession();
      const id = given.toLowerCase();
      // Nobody can say of a change that failed whether its commit went through: then, too, nothing is remembered.
      let isRemembered = true;
      try {
        const ended = await database.write(tenantId, (tx) => endSession(tx, auditContext, id, applicationId));
        // One without rights is remembered nowhere.
        isRemembered = ended !== undefined && ended.authorized_by !== null;
        if (!ended) throw noSuchSession();
      } finally {
        if (isRemembered) options.forgetAccess(tenantId);
      }
    },
  };
}

async function storeSession(
  tx: TenantTx,
  systemKeys: SystemKeys,
  auditContext: AuditContext,
  applicationId: string,
): Promise<SessionBody> {
  const [key, nonce] = [generateApiKey('session'), generateNonce()];
  const row = sealed(systemKeys, tx.tenantId, {
    id: newId(),
    hash: hashApiKey(systemKeys.apiKeyPepper, key.reveal()),
    nonce_hash: nonceHashOf(systemKeys, nonce.reveal()),
    created_by: applicationId,
    authorized_by: null,
    authorized_key: null,
    permissions: [],
    rules: NO_RULES,
    expires_at: new Date(auditContext.atMs + NEW_SESSION_MS),
  });
  await insertSession(tx, row, auditContext.atMs);
  await record(tx, auditContext, { event: SESSION_EVENTS.created, entityId: row.id, outcome: 'success' });
  const body = {
    id: row.id,
    session_key: key.reveal(),
    nonce: nonce.reveal(),
    expires_at: formatDate(row.expires_at.getTime()),
  };
  await auditContext.keepAnswer?.(tx, body);
  return body;
}

async function endSession(
  tx: TenantTx,
  auditContext: AuditContext,
  id: string,
  applicationId: string,
): ReturnType<typeof deleteSession> {
  const ended = await deleteSession(tx, id, applicationId, auditContext.atMs);
  if (!ended) return undefined;
  await Promise.all([
    record(tx, auditContext, { event: SESSION_END_EVENTS.ended, entityId: id, outcome: 'success' }),
    // Not for one without rights: whoever has a public key would empty the memory of every process with it.
    ended.authorized_by !== null && announce(tx, { kind: 'access', tenantId: tx.tenantId }),
  ]);
  return ended;
}

/** A row pointed at another session by hand must not be given rights, let alone a good seal. */
function verify({ systemKeys, onIntegrityFault }: SessionsOptions, tenantId: string, session: StoredSession): void {
  if (isSessionMacValid(systemKeys.rowMac, sealedPartOf(tenantId, session), session.mac)) return;
  onIntegrityFault({ tenantId, applicationId: session.created_by, sessionId: session.id });
  throw storageUnavailable(new Error('this session was changed outside the product'));
}

function nonceHashOf({ apiKeyPepper }: SystemKeys, nonce: string): Buffer {
  return hashApiKey(apiKeyPepper, `nonce:${nonce}`);
}

function sealed({ rowMac }: SystemKeys, tenantId: string, row: Omit<StoredSession, 'mac'>): StoredSession {
  return { ...row, mac: sessionMac(rowMac, sealedPartOf(tenantId, row)) };
}

function sealedPartOf(tenantId: string, row: Omit<StoredSession, 'mac'>) {
  return {
    tenantId,
    id: row.id,
    hash: row.hash,
    nonceHash: row.nonce_hash,
    createdBy: row.created_by,
    authorizedBy: row.authorized_by,
    authorizedKey: row.authorized_key,
    permissions: row.permissions,
    rules: row.rules,
    expiresAt: row.expires_at,
  };
}

function unknownNonce(): AppError {
  return new AppError('not_found', 'No session waits under this nonce. It may have expired: make a new session.');
}

function noSuchSession(): AppError {
  return new AppError('not_found', 'There is no such session of this Application. It may have ended by itself.');
}

function alreadyAuthorized(): AppError {
  return new AppError('session_already_authorized', 'This nonce was used. Make a new session to grant other rights.');
}
