import { tieToCoordinator } from '../../access/directory-queries.js';
import type { AuditContext } from '../../audit/entry.js';
import { record } from '../../audit/record.js';
import type { KeyMaker, KeyStore } from '../../crypto/key-store.js';
import type { SystemKeys } from '../../crypto/system-keys.js';
import { formatDate } from '../../kernel/dates.js';
import { AppError } from '../../kernel/errors.js';
import { insertOwner } from '../../people/users/queries.js';
import { announce } from '../../storage/changes.js';
import type { Database } from '../../storage/database.js';
import type { Memory } from '../../storage/memory.js';
import type { TenantTx } from '../../storage/scope.js';
import type { TokenSettings } from '../../vault/index.js';
import { storeMember } from '../members/index.js';
import { TENANT_EVENTS } from './events.js';
import type { TenantRow } from './queries.js';
import { findTenantById, insertTenant, markTenantDeleted, updateTenant } from './queries.js';
import type { TenantBody, TenantUpdate } from './schema.js';

export interface TenantsOptions {
  readonly database: Database;
  readonly keyStore: KeyStore;
  readonly memory: Memory<TenantBody>;
  /** Drops what this process remembers of a deleted tenant's credentials, before the answer goes out. */
  readonly forgetAccess: (tenantId: string) => void;
  readonly onDeleted: (tenantId: string, auditContext: AuditContext) => void;
}

export interface Tenants {
  get(tenantId: string): TenantBody | Promise<TenantBody>;
  update(tenantId: string, auditContext: AuditContext, update: TenantUpdate): Promise<TenantBody>;
  delete(tenantId: string, auditContext: AuditContext): Promise<void>;
}

/** What a new tenant's keys and its owner are made with. */
export interface TenantMaker {
  readonly keyMaker: KeyMaker;
  readonly systemKeys: Pick<SystemKeys, 'rowMac'>;
}

export async function tenantMaker(keyStore: Pick<KeyStore, 'keyMaker' | 'systemKeys'>): Promise<TenantMaker> {
  return { keyMaker: await keyStore.keyMaker(), systemKeys: keyStore.systemKeys };
}

export interface NewTenant {
  readonly name: string;
  readonly ownerId: string;
  /** Make the owner, who does not exist yet. */
  readonly isNewOwner: boolean;
}

export function createTenants(options: TenantsOptions): Tenants {
  const { database, keyStore, memory } = options;

  async function load(tenantId: string): Promise<TenantBody | undefined> {
    const row = await database.read(tenantId, findTenantById);
    return row && bodyOf(row);
  }

  return {
    get(tenantId) {
      const known = memory.find(tenantId, () => load(tenantId));
      return known instanceof Promise ? known.then(existing) : known;
    },

    async update(tenantId, auditContext, update) {
      const settings = update.settings ?? {};
      const updated = await database.write(tenantId, async (tx) => {
        const row = await updateTenant(tx, {
          name: update.name,
          fingerprintTokens: flagOf(settings.fingerprint_tokens),
          deduplicateTokens: flagOf(settings.deduplicate_tokens),
          modifiedBy: auditContext.actor?.id,
          modifiedAtMs: auditContext.atMs,
        });
        if (!row) throw gone();
        const event = row.are_settings_changed ? TENANT_EVENTS.settings_updated : TENANT_EVENTS.updated;
        const body = bodyOf(row);
        await Promise.all([
          record(tx, auditContext, { event, entityId: tenantId, outcome: 'success' }),
          announce(tx, { kind: 'tenant', tenantId }),
          auditContext.keepAnswer?.(tx, body),
        ]);
        return body;
      });
      memory.forgetTenant(tenantId);
      return updated;
    },

    async delete(tenantId, auditContext) {
      await database.write(tenantId, async (tx) => {
        if (!(await markTenantDeleted(tx, auditContext.atMs))) throw gone();
        // The keys go in the same transaction: whatever is still stored cannot be read from here on.
        await Promise.all([keyStore.destroyTenantKeys(tx), announce(tx, { kind: 'access', tenantId })]);
      });
      memory.forgetTenant(tenantId);
      keyStore.keyring.evict(tenantId);
      options.forgetAccess(tenantId);
      options.onDeleted(tenantId, auditContext);
    },
  };
}

/** What a tenant wants of its tokens; at once where its row is remembered. */
export function tokenSettings(tenants: Tenants, tenantId: string): TokenSettings | Promise<TokenSettings> {
  const tenant = tenants.get(tenantId);
  return tenant instanceof Promise ? tenant.then(settingsIn) : settingsIn(tenant);
}

function settingsIn({ settings }: TenantBody): TokenSettings {
  return {
    isFingerprinting: settings.fingerprint_tokens === 'true',
    isDeduplicating: settings.deduplicate_tokens === 'true',
  };
}

/** Makes a tenant with its keys, inside the caller's transaction. */
export async function createTenant(
  tx: TenantTx,
  { keyMaker, systemKeys }: TenantMaker,
  auditContext: AuditContext,
  tenant: NewTenant,
): Promise<void> {
  if (tenant.isNewOwner) {
    await tieToCoordinator(tx);
    await insertOwner(tx, tenant.ownerId, auditContext.atMs);
  }
  const createdBy = auditContext.actor?.type === 'user' ? auditContext.actor.id : null;
  await insertTenant(tx, { ownerId: tenant.ownerId, name: tenant.name, createdBy, atMs: auditContext.atMs });
  await storeMember(tx, systemKeys.rowMac, auditContext, { userId: tenant.ownerId, role: 'OWNER' });
  await keyMaker.createTenantKeys(tx, auditContext.atMs);
  await record(tx, auditContext, { event: TENANT_EVENTS.created, entityId: tx.tenantId, outcome: 'success' });
}

/** The key is good but its tenant went away between the two looks: to the caller it never existed. */
function gone(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid. Check it, or ask for a new one.');
}

function existing(body: TenantBody | undefined): TenantBody {
  if (!body) throw gone();
  return body;
}

function flagOf(setting: 'true' | 'false' | undefined): boolean | undefined {
  return setting === undefined ? undefined : setting === 'true';
}

function bodyOf(row: TenantRow): TenantBody {
  return {
    id: row.id,
    owner_id: row.owner_id,
    name: row.name,
    settings: {
      fingerprint_tokens: row.fingerprint_tokens ? 'true' : 'false',
      deduplicate_tokens: row.deduplicate_tokens ? 'true' : 'false',
    },
    ...(row.created_by !== null && { created_by: row.created_by }),
    created_at: formatDate(row.created_at.getTime()),
    ...(row.modified_by !== null && { modified_by: row.modified_by }),
    ...(row.modified_at !== null && { modified_at: formatDate(row.modified_at.getTime()) }),
  };
}
