import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type pg from 'pg';
import { generateApiKey } from '../../server/dist/access/api-key.js';
import { NO_RULES } from '../../server/dist/access/grants.js';
import { keyMac, rightsMac } from '../../server/dist/access/row-macs.js';
import type { Core } from '../../server/dist/core.js';
import { hashApiKey } from '../../server/dist/crypto/keyed-hash.js';
import { generateTenantKeys } from '../../server/dist/crypto/tenant-keys.js';
import { newId } from '../../server/dist/kernel/ids.js';
import { insideProduct } from './inside.js';
import { connectOwner } from './owner.js';

export interface MakeTenantsOptions {
  readonly socketDir: string;
  readonly count: number;
  /** Where the keys go, a line each. */
  readonly keyFile: string;
}

interface MadeTenant {
  readonly key: string;
  readonly id: string;
  readonly applicationId: string;
  readonly rightsMac: Buffer;
  readonly keyId: string;
  readonly keyHash: Buffer;
  readonly keyMac: Buffer;
  readonly wrapped: readonly { readonly kind: string; readonly version: number; readonly wrapped: Buffer }[];
}

const BATCH = 2_000;
const PERMISSIONS = ['token:create', 'token:read'];

/** Real tenants, each with keys and an application of its own, by the product's modules and one statement a table. */
const options: MakeTenantsOptions = JSON.parse(await text(process.stdin));
const keys = await insideProduct((core) => makeAll(core, options));
await writeFile(options.keyFile, keys.join('\n'));
process.stdout.write(`${JSON.stringify({ made: keys.length })}\n`);

async function makeAll(core: Core, { socketDir, count }: MakeTenantsOptions): Promise<string[]> {
  const client = await connectOwner(socketDir);
  try {
    const made: string[] = [];
    while (made.length < count) {
      const batch = Array.from({ length: Math.min(BATCH, count - made.length) }, () => makeOne(core));
      await insert(client, batch);
      made.push(...batch.map(({ key }) => key));
    }
    await client.query('ANALYZE');
    return made;
  } finally {
    await client.end();
  }
}

function makeOne({ keyStore }: Core): MadeTenant {
  const [rootKey] = keyStore.custody.ring();
  const { rowMac, apiKeyPepper } = keyStore.systemKeys;
  const [id, applicationId, keyId] = [newId(), newId(), newId()];
  const key = generateApiKey('private').reveal();
  const keyHash = hashApiKey(apiKeyPepper, key);
  const rights = { tenantId: id, id: applicationId, type: 'private', permissions: PERMISSIONS, rules: NO_RULES };
  return {
    key,
    id,
    applicationId,
    rightsMac: rightsMac(rowMac, { ...rights, expiresAt: null }),
    keyId,
    keyHash,
    keyMac: keyMac(rowMac, { hash: keyHash, tenantId: id, applicationId, id: keyId, expiresAt: null }),
    wrapped: generateTenantKeys(rootKey, id),
  };
}

async function insert(client: pg.Client, made: readonly MadeTenant[]): Promise<void> {
  const ids = made.map(({ id }) => id);
  const applicationIds = made.map(({ applicationId }) => applicationId);
  const wrapped = made.flatMap((tenant) => tenant.wrapped.map((row) => ({ ...row, tenantId: tenant.id })));
  await client.query('BEGIN');
  await client.query('INSERT INTO users (id, created_at) SELECT id, now() FROM unnest($1::uuid[]) AS given (id)', [
    ids,
  ]);
  await client.query(
    `INSERT INTO tenants (id, owner_id, name, created_at)
     SELECT id, id, 'Benchmark', now() FROM unnest($1::uuid[]) AS given (id)`,
    [ids],
  );
  await client.query(
    `INSERT INTO tenant_keys (tenant_id, kind, version, wrapped, created_at)
     SELECT tenant_id, kind, version, wrapped, now()
     FROM unnest($1::uuid[], $2::text[], $3::int[], $4::bytea[]) AS given (tenant_id, kind, version, wrapped)`,
    [
      wrapped.map(({ tenantId }) => tenantId),
      wrapped.map(({ kind }) => kind),
      wrapped.map(({ version }) => version),
      wrapped.map((row) => row.wrapped),
    ],
  );
  await client.query(
    `INSERT INTO applications (tenant_id, id, name, type, permissions, mac, created_at)
     SELECT tenant_id, id, 'Benchmark', 'private', $3::text[], mac, now()
     FROM unnest($1::uuid[], $2::uuid[], $4::bytea[]) AS given (tenant_id, id, mac)`,
    [ids, applicationIds, PERMISSIONS, made.map((tenant) => tenant.rightsMac)],
  );
  await client.query(
    `INSERT INTO api_keys (hash, tenant_id, application_id, id, mac, created_at)
     SELECT hash, tenant_id, application_id, id, mac, now()
     FROM unnest($1::bytea[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bytea[]) AS given (hash, tenant_id, application_id, id, mac)`,
    [
      made.map(({ keyHash }) => keyHash),
      ids,
      applicationIds,
      made.map(({ keyId }) => keyId),
      made.map((tenant) => tenant.keyMac),
    ],
  );
  await client.query('COMMIT');
}
