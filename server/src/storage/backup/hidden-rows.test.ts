import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { newId } from '../../kernel/ids.js';
import { ANY_SEAL } from '../../testing/any-seal.js';
import type { EmptyDatabase } from '../../testing/empty-database.js';
import { createEmptyDatabase } from '../../testing/empty-database.js';
import type { TestDatabase } from '../../testing/test-database.js';
import { createTestDatabase } from '../../testing/test-database.js';
import { makeScratch } from '../../testing/transfer.js';
import type { ConnectionTarget } from '../connection.js';
import { migrate } from '../migrate.js';
import { backUp } from './back-up.js';
import type { BackupManifest } from './manifest.js';

const LOGIN = 'strongroom';
/** Enough that the server would rather look into an index than at every row. */
const ROWS = 20_000;
const IN_SIGHT = "current_setting('strongroom.backup', true) = 'on'";

describe('a backup by an owner from whom a policy hides rows', () => {
  const owner = `owner_${randomBytes(6).toString('hex')}`;
  const [tenantId, otherId] = [newId(), newId()];
  let db: TestDatabase;
  let database: EmptyDatabase;
  let ownerTarget: ConnectionTarget;
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let folders = 0;

  before(async () => {
    db = await createTestDatabase();
    database = await createEmptyDatabase(db);
    // The owner of the run is a superuser, who sees past every policy.
    await db.owner.query(`CREATE ROLE ${owner} LOGIN`);
    await db.owner.query(`ALTER DATABASE ${nameOf(database)} OWNER TO ${owner}`);
    assert.ok('socketDir' in database.ownerTarget);
    ownerTarget = { ...database.ownerTarget, user: owner };
    await migrate({ owner: ownerTarget, login: LOGIN, createLogin: false });
    const { owner: superuser } = database;
    for (const [tenant, rows] of [
      [tenantId, ROWS],
      [otherId, 3],
    ] as const) {
      await superuser.query(
        `INSERT INTO active_tokens (tenant_id, month, token_id)
         SELECT $1, '2030-01-01', 't' || n FROM generate_series(1, $2::int) n`,
        [tenant, rows],
      );
    }
    await superuser.query(`SELECT ensure_log_partitions(now(), 2)`);
    await superuser.query(
      `INSERT INTO logs SELECT $1, now(), gen_random_uuid(), 'user', gen_random_uuid(), 'token', md5(n::text), 'read',
         md5((n * 7)::text), 'success', NULL, md5((n * 3)::text) FROM generate_series(1, 5) n`,
      [tenantId],
    );
    await superuser.query('ANALYZE');
    scratch = await makeScratch();
  });
  after(async () => {
    await database?.drop();
    await db?.owner.query(`DROP ROLE IF EXISTS ${owner}`);
    await db?.drop();
    await scratch?.remove();
  });

  function nameOf(named: EmptyDatabase): string {
    assert.ok('database' in named.ownerTarget);
    return named.ownerTarget.database;
  }

  async function run(): Promise<{ folder: string; manifest: Promise<BackupManifest> }> {
    folders += 1;
    const folder = join(scratch.path, String(folders));
    const manifest = backUp({
      owner: ownerTarget,
      folder,
      productVersion: '0.0.0',
      nowMs: 0,
      sealManifest: ANY_SEAL.sealManifest,
      onProgress: () => {},
      shouldStop: () => false,
    });
    return { folder, manifest };
  }

  /** Backs up under another policy, and puts back the one there was. */
  async function refusal(table: string, using: string): Promise<string> {
    await database.owner.query(`ALTER POLICY backup ON ${table} USING (${using})`);
    try {
      const { folder, manifest } = await run();
      const outcome = await manifest.catch((error: unknown) => error);
      assert.ok(outcome instanceof ExitError, `not refused: ${JSON.stringify(outcome)}`);
      assert.equal(outcome.exitCode, EXIT.configuration);
      assert.deepEqual(await readdir(folder), []);
      return outcome.message;
    } finally {
      await database.owner.query(`ALTER POLICY backup ON ${table} USING ((SELECT ${IN_SIGHT}))`);
    }
  }

  it('has every row where none is hidden, of a table in parts too', async () => {
    const { tables } = await (await run()).manifest;
    const rowsOf = (wanted: string) => tables.find(({ name }) => name === wanted)?.rows;
    assert.deepEqual([rowsOf('active_tokens'), rowsOf('logs'), rowsOf('tokens')], [ROWS + 3, 5, 0]);
  });

  it('78 with both numbers when some rows are hidden, though an index would find the others', async () => {
    const shown = await refusal('active_tokens', `tenant_id = '${otherId}'`);
    assert.match(shown, /leave out rows of active_tokens: they are 20003, of which 3 are shown\. .*Nothing was kept/);
  });

  it('78 when all rows are hidden, by a constant or by a setting that does not reach the table', async () => {
    assert.match(await refusal('active_tokens', 'false'), /rows of active_tokens: they cannot even be counted/);
    const elsewhere = `(SELECT current_setting('strongroom.elsewhere', true)) = 'on'`;
    assert.match(await refusal('active_tokens', elsewhere), /they (are 20003, of which 0 are shown|cannot .* counted)/);
  });

  it('78 when whole parts of a table are hidden', async () => {
    const shown = await refusal('logs', `${IN_SIGHT} AND created_at > '2999-01-01'`);
    assert.match(shown, /leave out rows of logs/);
  });

  it('78 when the copy saw fewer rows than were counted', async () => {
    const shown = await refusal('active_tokens', `current_query() LIKE 'EXPLAIN%'`);
    assert.match(shown, /rows of active_tokens: they are 20003, of which 0 were copied/);
  });
});
