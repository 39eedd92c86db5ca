import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import type { SideDatabase } from '../databases.js';
import { makeDatabase } from '../databases.js';
import { killCommand } from '../killed-command.js';
import { runCommand } from '../product.js';
import type { Round, Scenario } from '../scenario.js';
import { asSuperuser } from '../superuser.js';

const MIGRATIONS = fileURLToPath(new URL('../../../server/migrations', import.meta.url));
/** Each statement that changes the schema takes so much longer, so that there is a middle to kill in. */
const SLOW_SECONDS = 0.02;
const WITHIN_MS = 1_200;

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
}

/** A database at each version is migrated, the migration is killed, and goes again to its end. */
export const migrateKill: Scenario = {
  name: 'migrate-kill',
  about: 'kill -9 of migrations from every version on; run again, the schema is that of a clean database',
  needs: ['postgresql'],
  shortCount: 1,
  longCount: 5,
  load: { workersPerTenant: 1, pauseMs: [50, 200] },
  async inject(round) {
    const migrations = await readApplied(round);
    const all = migrations.map((_, n) => n);
    const versions = round.isLong ? all : [round.random.pick(all)];
    const clean = await migrated(round, 'clean', migrations, undefined);
    for (const version of versions) {
      const schema = await migrated(round, `side_${version}`, migrations, version);
      if (schema !== clean) round.violate(`the schema differs after a kill from version ${version} on`);
    }
    return async () => {};
  },
};

/** What the load's own database says was applied, with the files. */
async function readApplied(round: Round): Promise<Applied[]> {
  return asSuperuser(round.cluster.postgres, async (client) => {
    const { rows } = await client.query<Omit<Applied, 'sql'>>(
      'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
    );
    const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
    if (files.length !== rows.length) throw new Error('files and migrations differ');
    const texts = await Promise.all(files.map((name) => readFile(join(MIGRATIONS, name), 'utf8')));
    return rows.map((row, n) => ({ ...row, sql: texts[n] ?? '' }));
  });
}

/** The schema of a database that had `version` migrations and was killed on its way to all of them; or never was. */
async function migrated(
  round: Round,
  name: string,
  migrations: readonly Applied[],
  version: number | undefined,
): Promise<string> {
  const { cluster, random } = round;
  const database = await makeDatabase(cluster, `${name}_${round.id}`);
  try {
    if (version !== undefined) {
      await applyByHand(round, database, migrations.slice(0, version));
      const superuser = await cluster.postgres.connect(database.name);
      await superuser.query(`CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_sleep(${SLOW_SECONDS}); END'`);
      await superuser.query('CREATE EVENT TRIGGER slow ON ddl_command_start EXECUTE FUNCTION slow()');
      await killCommand({ cluster, random, settings: database.settings, words: ['migrate'], withinMs: WITHIN_MS });
      await superuser.query('DROP EVENT TRIGGER slow');
      await superuser.query('DROP FUNCTION slow()');
      await superuser.end();
    }
    const again = await runCommand(database.settings, 'migrate');
    if (again.code !== 0) round.violate(`migrate after a kill ended with ${again.code}: ${again.stderr}`);
    return await dump(round, database);
  } finally {
    await database.drop();
  }
}

async function applyByHand(round: Round, { name }: SideDatabase, migrations: readonly Applied[]): Promise<void> {
  if (migrations.length === 0) return;
  const client = new pg.Client({ connectionString: round.cluster.postgres.url('owner', name) });
  await client.connect();
  try {
    await client.query(`CREATE TABLE schema_migrations (
      version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL)`);
    for (const { version, name: title, checksum, sql } of migrations) {
      await client.query(sql);
      await client.query('INSERT INTO schema_migrations VALUES ($1, $2, $3, now())', [version, title, checksum]);
    }
  } finally {
    await client.end();
  }
}

async function dump({ cluster }: Round, { name }: SideDatabase): Promise<string> {
  const { binDir } = cluster.postgres;
  const args = ['--schema-only', '-d', cluster.postgres.url('postgres', name)];
  const { stdout } = await promisify(execFile)(join(binDir, 'pg_dump'), args, { maxBuffer: 16 * 1_048_576 });
  // Newer releases put a word of their own, different each time, around the dump.
  return stdout
    .split('\n')
    .filter((line) => !/^\\(un)?restrict /.test(line))
    .join('\n');
}
