import type { KeyObject } from 'node:crypto';
import { storageUnavailable } from '../kernel/errors.js';
import { grantsOf, heldBy } from './grants.js';
import type { ApplicationType } from './permissions.js';
import { APPLICATION_TYPES } from './permissions.js';
import type { Principal } from './principal.js';
import type { ApplicationRights, CredentialRow, SessionCredentialRow } from './queries.js';
import { isKeyMacValid, isRightsMacValid, isSessionMacValid } from './row-macs.js';
import type { Grants } from './rules.js';

/** A key that exists: whose it is and until when it works. */
export interface Credential {
  readonly principal: Principal;
  readonly expiresAtMs: number;
  /** The hour of the last use that is stored or about to be; whoever keeps the uses moves this and the next one on. */
  usedHour: number;
  /** When its use was last looked at. */
  usedRound: number;
}

const HOUR_MS = 3_600_000;
/** The use of a session is not one of the key it was authorized with: no hour is later than this one. */
const NOT_COUNTED = 2 ** 30;

/** Whole hours since the epoch. */
export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

/** Which stored row was changed behind the product's back. */
export interface IntegrityStory {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly sessionId?: string;
}

/** Whether a session is held to what the Application that authorized it may do. */
export type SessionGrants = 'held' | 'any';

export interface CredentialOptions {
  readonly rowMacKey: KeyObject;
  readonly sessionGrants: SessionGrants;
  readonly onIntegrityFault: (story: IntegrityStory) => void;
}

/** Turns stored rows into who may do what. A row whose seal does not fit opens nothing. */
export interface Credentials {
  ofApplication(row: CredentialRow, keyHash: Buffer): Credential;
  /** Undefined when an Application the session lives by is gone, or the key that authorized it. */
  ofSession(rows: readonly SessionCredentialRow[], keyHash: Buffer): Credential | undefined;
}

export function createCredentials(options: CredentialOptions): Credentials {
  const { rowMacKey, sessionGrants } = options;

  function refuse(story: IntegrityStory): never {
    options.onIntegrityFault(story);
    throw storageUnavailable(new Error('the rights behind this key were changed outside the product'));
  }

  function rightsOf(tenantId: string, row: ApplicationRights): { type: ApplicationType; grants: Grants } {
    const { application_id: id, type, permissions, rules, application_expires_at: expiresAt } = row;
    const isGenuine = isRightsMacValid(rowMacKey, { tenantId, id, type, permissions, rules, expiresAt }, row.mac);
    if (!isApplicationType(type) || !isGenuine) return refuse({ tenantId, applicationId: id });
    return { type, grants: grantsOf(type, permissions, rules) };
  }

  /** Sessions from before the key was remembered have none, and live on without. */
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
    return isKeyMacValid(rowMacKey, key, mac) || refuse({ tenantId, applicationId, sessionId: row.session_id });
  }

  return {
    ofApplication(row, keyHash) {
      const { tenant_id: tenantId, application_id: id, key_expires_at: expiresAt } = row;
      const key = { hash: keyHash, tenantId, applicationId: id, id: row.key_id, expiresAt };
      if (!isKeyMacValid(rowMacKey, key, row.key_mac)) return refuse({ tenantId, applicationId: id });
      const { type, grants } = rightsOf(tenantId, row);
      return {
        principal: {
          tenantId,
          applicationId: id,
          applicationType: type,
          keyId: row.key_id,
          actor: { type: 'application', id },
          permissions: heldBy(grants),
          grants: [grants],
        },
        expiresAtMs: earliest(row.application_expires_at, expiresAt),
        usedHour: hourOf(row.key_last_used_at?.getTime() ?? 0),
        usedRound: 0,
      };
    },

    ofSession(rows, keyHash) {
      for (const row of rows) {
        const { tenant_id: tenantId, session_id: sessionId, created_by: applicationId } = row;
        const isGenuine = isSessionMacValid(rowMacKey, sessionRowOf(row, keyHash), row.session_mac);
        if (!isGenuine) return refuse({ tenantId, applicationId, sessionId });
      }
      const creator = rows.find((row) => row.application_id === row.created_by);
      if (creator === undefined) return undefined;
      const { tenant_id: tenantId, session_id: id } = creator;
      const maker = rightsOf(tenantId, creator);
      const actor = { type: 'session', id } as const;
      if (creator.authorized_by === null) {
        const principal = { tenantId, applicationId: creator.created_by, applicationType: maker.type, actor };
        const nothing = { permissions: new Set<never>(), grants: [{ permissions: new Set<never>(), rules: [] }] };
        return {
          principal: { ...principal, ...nothing },
          expiresAtMs: earliest(creator.session_expires_at, creator.application_expires_at),
          usedHour: NOT_COUNTED,
          usedRound: 0,
        };
      }
      const authorizer = rows.find((row) => row.application_id === row.authorized_by);
      if (authorizer === undefined) return undefined;
      if (!isKeyThere(authorizer)) return undefined;
      const { type, grants: cap } = rightsOf(tenantId, authorizer);
      const own = grantsOf('session', creator.session_permissions, creator.session_rules);
      const grants = sessionGrants === 'held' ? [own, cap] : [own];
      const [held, ...caps] = grants.map(heldBy);
      return {
        principal: {
          tenantId,
          applicationId: authorizer.application_id,
          applicationType: type,
          actor,
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
    },
  };
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

function isApplicationType(text: string): text is ApplicationType {
  return (APPLICATION_TYPES as readonly string[]).includes(text);
}

function earliest(...ends: readonly (Date | null)[]): number {
  return Math.min(...ends.map((end) => end?.getTime() ?? Number.POSITIVE_INFINITY));
}
