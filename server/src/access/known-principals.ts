import type { KeyObject } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import type { Database } from '../storage/database.js';
import type { Memory } from '../storage/memory.js';
import type { Credential, StoredRightsOptions } from './credential.js';
import { createStoredRights, earliest, hourOf } from './credential.js';
import { heldBy } from './grants.js';
import type { Application, Session } from './principal.js';
import { findRightsOfApplication, findSessionById } from './queries.js';
import type { SessionGrants } from './session-key-reader.js';
import { createSessionRows } from './session-key-reader.js';

/**
 * Whom the product acts for when they send no key: the Application of a Reactor, and whoever asked for work that is done later.
 * Their rights are those they have now. Undefined where they are gone, or their time is over.
 */
export interface KnownPrincipals {
  application(tenantId: string, applicationId: string): Promise<Application | undefined>;
  session(tenantId: string, sessionId: string): Promise<Session | undefined>;
}

export interface KnownPrincipalsOptions extends StoredRightsOptions {
  readonly database: Database;
  readonly memory: Memory<Credential>;
  readonly clock: Clock;
  readonly rowMacKey: KeyObject;
  readonly sessionGrants: SessionGrants;
}

/** It acts without a key. */
const NO_KEY = '';

export function createKnownPrincipals(options: KnownPrincipalsOptions): KnownPrincipals {
  const { database, memory, clock } = options;
  const rights = createStoredRights(options);
  const credentialOf = createSessionRows({ ...options, rights });

  async function loadApplication(tenantId: string, id: string): Promise<Credential | undefined> {
    const row = await database.read(tenantId, (tx) => findRightsOfApplication(tx, id));
    if (!row) return undefined;
    const { type, grants } = rights.of(tenantId, row);
    return {
      principal: {
        kind: 'application',
        tenantId,
        applicationId: id,
        applicationType: type,
        keyId: NO_KEY,
        actor: { type: 'application', id },
        permissions: heldBy(grants),
        grants: [grants],
      },
      expiresAtMs: earliest(row.application_expires_at),
      usedHour: hourOf(clock.nowMs()),
      usedRound: 0,
    };
  }

  async function loadSession(tenantId: string, id: string): Promise<Credential | undefined> {
    const rows = await database.read(tenantId, (tx) => findSessionById(tx, id));
    const [first] = rows;
    const found = first && credentialOf(rows, first.session_hash);
    // One without rights is about to get some, so it is not remembered.
    return found?.principal.kind === 'session' && found.principal.isAuthorized ? found : undefined;
  }

  /** Under a name no hash of a key can be. */
  async function find(name: string, load: () => Promise<Credential | undefined>) {
    const credential = await memory.find(name, load);
    return credential && clock.nowMs() < credential.expiresAtMs ? credential.principal : undefined;
  }

  return {
    async application(tenantId, id) {
      const found = await find(`application ${tenantId} ${id}`, () => loadApplication(tenantId, id));
      return found?.kind === 'application' ? found : undefined;
    },
    async session(tenantId, id) {
      const found = await find(`session ${tenantId} ${id}`, () => loadSession(tenantId, id));
      return found?.kind === 'session' ? found : undefined;
    },
  };
}
