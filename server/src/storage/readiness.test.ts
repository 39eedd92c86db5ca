import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { readConfig } from '../config.js';
import type { Core } from '../core.js';
import { openCore } from '../core.js';
import { generateRootKey } from '../crypto/root-key.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { createEmptyDatabase } from '../testing/empty-database.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { ConnectionTarget } from './connection.js';
import { readMigrations } from './migrations.js';

const WORKING_ROLES = ['strongroom_app', 'strongroom_system', 'strongroom_purge', 'strongroom_people'];
const ROOT_KEY = generateRootKey().reveal();

function urlOf(target: ConnectionTarget): string {
  assert.ok('socketDir' in target);
  const { socketDir, port, user, database } = target;
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(socketDir)}&port=${port}`;
}

/** Starts as far as the keys are opened, as a service that knows only its own login. */
function open(target: ConnectionTarget): Promise<Core> {
  const config = readConfig({ STRONGROOM_DATABASE_URL: urlOf(target), STRONGROOM_ROOT_KEY: ROOT_KEY });
  return openCore({ config, clock: systemClock, command: 'strongroom serve', log: () => {}, onLost: () => {} });
}

async function assertRefused(target: ConnectionTarget, code: number, ...words: RegExp[]): Promise<void> {
  const outcome = await open(target).then(
    (core) => core.close(),
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof ExitError, `not refused: ${String(outcome)}`);
  for (const word of words) assert.match(outcome.message, word);
  assert.equal(outcome.exitCode, code, outcome.message);
}

suite('a service without the address of the owner', () => {
  let db: TestDatabase;

  before(async () => {
    db = await createTestDatabase();
  });
  after(() => db.drop());

  /** A login that is gone again after the test: roles belong to the whole server, which others use too. */
  async function withLogin(
    make: string,
    act: (target: ConnectionTarget, name: string) => Promise<void>,
  ): Promise<void> {
    const name = `login_${randomBytes(6).toString('hex')}`;
    await db.owner.query(`CREATE ROLE ${name} LOGIN ${make}`);
    try {
      await act({ ...db.target, user: name }, name);
    } finally {
      await db.owner.query(`REASSIGN OWNED BY ${name} TO CURRENT_USER`);
      await db.owner.query(`DROP ROLE ${name}`);
    }
  }

  async function admit(name: string, roles: readonly string[], option = 'INHERIT FALSE, SET TRUE'): Promise<void> {
    for (const role of roles) await db.owner.query(`GRANT ${role} TO ${name} WITH ${option}`);
  }

  test('starts with a plain login on the current schema', async () => {
    await withLogin('NOINHERIT', async (target, name) => {
      await admit(name, WORKING_ROLES);
      const core = await open(target);
      await core.close();
    });
  });

  test('78 when its login is a superuser', async () => {
    await withLogin('SUPERUSER', (target) => assertRefused(target, EXIT.configuration, /superuser/, /NOINHERIT/));
  });

  test('78 when its login has BYPASSRLS', async () => {
    await withLogin('NOINHERIT BYPASSRLS', async (target, name) => {
      await admit(name, WORKING_ROLES);
      await assertRefused(target, EXIT.configuration, /BYPASSRLS/, /strongroom migrate/);
    });
  });

  for (const inherited of WORKING_ROLES) {
    test(`78 when its login inherits ${inherited}`, async () => {
      await withLogin('INHERIT', async (target, name) => {
        await admit(
          name,
          WORKING_ROLES.filter((role) => role !== inherited),
        );
        await admit(name, [inherited], 'INHERIT TRUE, SET TRUE');
        await assertRefused(target, EXIT.configuration, /inherits/);
      });
    });
  }

  test('78 when its login owns the tables', async () => {
    await withLogin('NOINHERIT', async (target, name) => {
      await admit(name, WORKING_ROLES);
      await db.owner.query(`ALTER TABLE tenants OWNER TO ${name}`);
      await assertRefused(target, EXIT.configuration, /owns the tables/);
    });
  });

  test('78 when its login may become the owner of the tables', async () => {
    await withLogin('NOINHERIT', async (_, ownerName) => {
      await db.owner.query(`ALTER TABLE tenants OWNER TO ${ownerName}`);
      await withLogin('NOINHERIT', async (target, name) => {
        await admit(name, [...WORKING_ROLES, ownerName]);
        await assertRefused(target, EXIT.configuration, /owns the tables/);
      });
    });
  });

  for (const power of ['SUPERUSER', 'BYPASSRLS']) {
    test(`78 when its login may become a role with ${power}`, async () => {
      await withLogin(`NOINHERIT ${power}`, async (_, powerful) => {
        await withLogin('NOINHERIT', async (target, name) => {
          await admit(name, [...WORKING_ROLES, powerful]);
          await assertRefused(target, EXIT.configuration, /bypass row-level security/);
        });
      });
    });
  }

  test('78 when its login may not take on the working roles', async () => {
    await withLogin('NOINHERIT', (target) => assertRefused(target, EXIT.configuration, /strongroom migrate/));
  });

  test('78 that names strongroom migrate when the schema is older than the release', async () => {
    const { length } = await readMigrations();
    const removed = await db.owner.query('DELETE FROM schema_migrations WHERE version = $1 RETURNING *', [length]);
    const [row] = removed.rows as { name: string; checksum: string }[]; // The columns of the table.
    await assertRefused(db.target, EXIT.configuration, /1 migration/, /strongroom migrate/, /MIGRATION_DATABASE_URL/);
    await db.owner.query('INSERT INTO schema_migrations VALUES ($1, $2, $3, now())', [
      length,
      row?.name,
      row?.checksum,
    ]);
  });

  test('78 when the schema is newer than the release', async () => {
    await db.owner.query(`INSERT INTO schema_migrations VALUES (9999, 'from_the_future', '', now())`);
    await assertRefused(db.target, EXIT.configuration, /schema 9999/);
    await db.owner.query('DELETE FROM schema_migrations WHERE version = 9999');
  });

  test('78 that names strongroom migrate when the database is empty', async () => {
    const empty = await createEmptyDatabase(db);
    await assertRefused({ ...empty.target, user: 'strongroom' }, EXIT.configuration, /strongroom migrate/);
    await empty.drop();
  });

  test('69 when the database cannot be reached', async () => {
    const nowhere = { socketDir: '/tmp/sr-nobody-listens-here', port: 5432, user: 'strongroom', database: 'none' };
    await assertRefused(nowhere, EXIT.unavailable);
  });
});
