import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createApp } from '../app.js';
import { operatorContext } from '../audit/entry.js';
import { ensureLogPartitions } from '../audit/partitions.js';
import { readConfig } from '../config.js';
import { keyVersionOf } from '../crypto/aead.js';
import { findTenantKeys } from '../crypto/key-queries.js';
import type { KeyStore } from '../crypto/key-store.js';
import { openKeyStore } from '../crypto/key-store.js';
import { generateRootKey } from '../crypto/root-key.js';
import { parseRootKeyRing } from '../crypto/root-key-ring.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import { openTenantKeys } from '../crypto/tenant-keys.js';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { createTenant, tenantMaker } from '../resources/tenants/index.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import { createMetrics } from '../telemetry/metrics.js';
import { createProcessLog } from '../telemetry/process-log.js';
import { createFakeClock } from '../testing/fake-clock.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { TokenContent } from '../vault/stored/content.js';
import { groupIdOf } from '../vault/stored/names.js';
import { openContent, sealContent } from '../vault/stored/seal.js';
import type { SealedToken } from '../vault/upkeep/reseal-queries.js';

/** What one process has: connections of its own, and keys it opened for itself. */
export interface Process {
  readonly database: Database;
  readonly keyStore: KeyStore;
}

export interface RotationVault {
  readonly db: TestDatabase;
  readonly folder: string;
  readonly keyFile: string;
  /** Opens the database with the key file as it is now. Closed with the vault. */
  open(): Promise<Process>;
  /** The same, hearing of changes and listening for requests. */
  serve(): Promise<Process & { readonly baseUrl: string }>;
  makeTenant(process: Process): Promise<string>;
  close(): Promise<void>;
}

export async function createRotationVault(): Promise<RotationVault> {
  const db = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'sr-rotation-'));
  const keyFile = join(folder, 'root.key');
  await writeFile(keyFile, `${generateRootKey().reveal()}\n`, { mode: 0o600 });
  const closers: (() => Promise<void>)[] = [];

  async function open(): Promise<Process> {
    const database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    closers.push(() => database.close());
    const { keyStore } = await openKeyStore(database, { file: keyFile, isProduction: true });
    await ensureLogPartitions(database, systemClock.nowMs());
    return { database, keyStore };
  }

  return {
    db,
    folder,
    keyFile,
    open,
    async serve() {
      const opened = await open();
      const destination = new Writable({ write: (_chunk, _encoding, done) => done() });
      const app = createApp({
        config: readConfig({ STRONGROOM_PORT: '0', STRONGROOM_RATE_LIMITS: 'off' }),
        core: { ...opened, target: db.target },
        clock: systemClock,
        log: createProcessLog({ level: 'silent', destination }),
        metrics: createMetrics(),
      });
      closers.push(() => app.close());
      const port = await app.http.listen('127.0.0.1', 0);
      app.markReady();
      return { ...opened, baseUrl: `http://127.0.0.1:${port}` };
    },
    async makeTenant({ database, keyStore }) {
      const [tenantId, ownerId] = [newId(), newId()];
      const auditContext = operatorContext(systemClock.nowMs());
      const maker = await tenantMaker(keyStore);
      await database.write(tenantId, (tx) =>
        createTenant(tx, maker, auditContext, { name: 'Rotated', ownerId, isNewOwner: true }),
      );
      return tenantId;
    },
    async close() {
      for (const close of closers.reverse()) await close();
      await db.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A clock that only waiting moves, and what was waited for. */
export function createFakeTime(duringWait: (ms: number) => Promise<void> | void = () => {}) {
  const clock = createFakeClock(systemClock.nowMs());
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms);
    await duringWait(ms);
    clock.advance(ms);
  };
  return { clock, wait, waits };
}

export function contentOf(text: string): TokenContent {
  return {
    type: 'token',
    data: text,
    containers: ['/general/'],
    metadata: undefined,
    mask: undefined,
    searchIndexes: undefined,
    fingerprintExpression: undefined,
    privacy: { classification: 'general', impact_level: 'high', restriction_policy: 'redact' },
    encryption: undefined,
  };
}

/** Writes rows as the owner, sealed with these keys whatever they are by now. */
export async function insertTestTokens(vault: RotationVault, keys: TenantKeys, ids: readonly string[]): Promise<void> {
  const { tenantId: tenant_id } = keys;
  const sealed = ids.map((id) => sealContent(keys, { tenant_id, id, data_version: 1 }, contentOf(`data of ${id}`)));
  await vault.db.owner.query(
    `INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, terms, data_version, sealed)
     SELECT $1, n.id, 'token', $2, now(), gen_random_uuid(), '', 1, decode(n.sealed, 'hex')
     FROM unnest($3::text[], $4::text[]) AS n (id, sealed)`,
    [tenant_id, groupIdOf('token', ['/general/']), ids, sealed.map((record) => record.toString('hex'))],
  );
}

export function manyIds(count: number): string[] {
  return Array.from({ length: count }, () => newId());
}

export async function sealedTokens(vault: RotationVault, tenantId: string): Promise<SealedToken[]> {
  const { rows } = await vault.db.owner.query<SealedToken>(
    'SELECT tenant_id, id, type, group_id, data_version, sealed FROM tokens WHERE tenant_id = $1 ORDER BY id',
    [tenantId],
  );
  return rows;
}

/** Which key versions the rows name, in order. */
export async function versionsInUse(vault: RotationVault, tenantId: string): Promise<(number | undefined)[]> {
  const rows = await sealedTokens(vault, tenantId);
  return [...new Set(rows.map(({ sealed }) => keyVersionOf(sealed)))].sort();
}

export async function keyVersions(vault: RotationVault, tenantId: string): Promise<number[]> {
  const { rows } = await vault.db.owner.query<{ version: number }>(
    `SELECT version FROM tenant_keys WHERE tenant_id = $1 AND kind = 'encryption' ORDER BY version`,
    [tenantId],
  );
  return rows.map(({ version }) => version);
}

/** Opens every row of the tenant as a process does that starts now, with the key file as it is on disk. */
export async function assertAllOpen(vault: RotationVault, tenantId: string, count: number): Promise<void> {
  const ring = parseRootKeyRing(await readFile(vault.keyFile, 'utf8'));
  const database = createDatabase({
    target: vault.db.target,
    isDistributed: vault.db.isDistributed,
    clock: systemClock,
  });
  try {
    const keys = openTenantKeys(ring, tenantId, await database.read(tenantId, findTenantKeys));
    const rows = await sealedTokens(vault, tenantId);
    assert.equal(rows.length, count);
    for (const row of rows) assert.match(String(openContent(keys, row).data), new RegExp(`^data of ${row.id}`));
  } finally {
    await database.close();
  }
}

/** The database as it is, except that the n-th change fails: before it is made, or after its commit. */
export function failingAt(database: Database, nth: number, when: 'before' | 'after') {
  let count = 0;
  const injected = new Error('injected');
  async function guard<T>(work: () => Promise<T>): Promise<T> {
    count += 1;
    const isIt = count === nth;
    if (isIt && when === 'before') throw injected;
    const result = await work();
    if (isIt) throw injected;
    return result;
  }
  const failing: Database = {
    ...database,
    write: (tenantId, work) => guard(() => database.write(tenantId, work)),
    system: (work) => guard(() => database.system(work)),
  };
  return { failing, guard, injected, changes: () => count };
}
