import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { readConfig } from '../config.js';
import { openCore } from '../core.js';
import { generateRootKey } from '../crypto/root-key.js';
import { systemClock } from '../kernel/clock.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { connectAs } from '../testing/empty-database.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { migrate } from './migrate.js';

const ROOT_KEY = generateRootKey().reveal();
const WHAT_TO_DO = [/STRONGROOM_MIGRATION_DATABASE_URL/, /strongroom migrate/];
const MAKE_PLAIN = /CREATE ROLE strongroom LOGIN NOINHERIT/;
const NO_SCHEMA = /no Strongroom schema/;

/** What a start says about a login, by what that login is and whether the schema is there. */
const SAYS: readonly {
  readonly who: string;
  readonly make: string;
  readonly isMigrated: boolean;
  readonly isOwner?: true;
  readonly words: readonly RegExp[];
  readonly never: readonly RegExp[];
}[] = [
  {
    who: 'the owner',
    make: 'CREATEROLE',
    isMigrated: false,
    isOwner: true,
    words: [NO_SCHEMA, /owns this database/, MAKE_PLAIN],
    never: [/owns the tables/],
  },
  {
    who: 'a superuser',
    make: 'SUPERUSER',
    isMigrated: false,
    words: [/it is a superuser\./, MAKE_PLAIN],
    never: [/inherits/, /may become/],
  },
  {
    who: 'a login with BYPASSRLS',
    make: 'NOINHERIT BYPASSRLS',
    isMigrated: false,
    words: [/it has BYPASSRLS\./, MAKE_PLAIN],
    never: [NO_SCHEMA],
  },
  { who: 'an ordinary login', make: 'NOINHERIT', isMigrated: false, words: [NO_SCHEMA], never: [/owns/, MAKE_PLAIN] },
  {
    who: 'the owner',
    make: 'CREATEROLE',
    isMigrated: true,
    isOwner: true,
    words: [/it owns the tables\./, MAKE_PLAIN],
    never: [NO_SCHEMA, /inherits/],
  },
  {
    who: 'a superuser',
    make: 'SUPERUSER',
    isMigrated: true,
    words: [/it is a superuser\./, MAKE_PLAIN],
    never: [NO_SCHEMA, /inherits/, /owns/],
  },
  {
    who: 'a login with BYPASSRLS',
    make: 'NOINHERIT BYPASSRLS',
    isMigrated: true,
    words: [/it has BYPASSRLS\./, MAKE_PLAIN],
    never: [NO_SCHEMA],
  },
  {
    who: 'an ordinary login',
    make: 'NOINHERIT',
    isMigrated: true,
    words: [/has not been admitted/],
    never: [NO_SCHEMA, /owns/, MAKE_PLAIN],
  },
];

suite('what a start says about its login', () => {
  let beside: TestDatabase;

  before(async () => {
    beside = await createTestDatabase();
  });
  after(() => beside.drop());

  /** The sentence a service that knows only this login ends with. */
  async function refusal(user: string, database: string): Promise<string> {
    assert.ok('socketDir' in beside.target);
    const { socketDir, port } = beside.target;
    const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(socketDir)}&port=${port}`;
    const config = readConfig({ STRONGROOM_DATABASE_URL: url, STRONGROOM_ROOT_KEY: ROOT_KEY });
    const quiet = { clock: systemClock, command: 'strongroom serve', log: () => {}, onLost: () => {} };
    const outcome = await openCore({ config, ...quiet }).then(
      (core) => core.close(),
      (error: unknown) => error,
    );
    assert.ok(outcome instanceof ExitError, `not refused: ${String(outcome)}`);
    assert.equal(outcome.exitCode, EXIT.configuration, outcome.message);
    return outcome.message;
  }

  /** A login and a database of its own, owned by the superuser unless the login is to own it. */
  async function withDatabase(
    { make, isMigrated, isOwner }: { make: string; isMigrated: boolean; isOwner?: boolean | undefined },
    act: (login: string, database: string) => Promise<void>,
  ): Promise<void> {
    const unique = randomBytes(6).toString('hex');
    const [login, database] = [`login_${unique}`, `empty_${unique}`];
    await beside.owner.query(`CREATE ROLE ${login} LOGIN ${make}`);
    await beside.owner.query(`CREATE DATABASE ${database} ${isOwner ? `OWNER ${login}` : ''}`);
    try {
      const user = isOwner ? login : 'strongroom_owner';
      // Whoever owns it all is not admitted, and nobody else is named.
      if (isMigrated)
        await migrate({ owner: { ...beside.ownerTarget, database, user }, login: user, createLogin: false });
      await act(login, database);
    } finally {
      await beside.owner.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await beside.owner.query(`DROP ROLE ${login}`);
    }
  }

  for (const { who, isMigrated, words, never, ...made } of SAYS) {
    const state = isMigrated ? 'migrated' : 'not migrated';
    test(`78 for ${who} on a database that is ${state}, with what to do`, async () => {
      await withDatabase({ ...made, isMigrated }, async (login, database) => {
        const sentence = await refusal(login, database);
        for (const word of [...words, ...WHAT_TO_DO]) assert.match(sentence, word);
        for (const word of never) assert.doesNotMatch(sentence, word);
      });
    });
  }

  test('78 for the owner of a schema that is behind: the login is what has to change first', async () => {
    await withDatabase({ make: 'CREATEROLE', isMigrated: false, isOwner: true }, async (login, database) => {
      await migrate({ owner: { ...beside.ownerTarget, database, user: login }, login, createLogin: false, upTo: 9 });
      assert.match(await refusal(login, database), /it owns the tables\./);
    });
  });

  for (const [give, word] of [
    ['ALTER ROLE % CREATEROLE', /it has CREATEROLE\./],
    ['ALTER ROLE % REPLICATION', /it has REPLICATION\./],
    ['GRANT strongroom_app TO % WITH ADMIN OPTION', /it may hand roles on\./],
    ['GRANT pg_read_all_data TO %', /it is a member of pg_read_all_data\./],
    ['GRANT pg_execute_server_program, pg_write_server_files TO %', /of pg_execute_server_program and pg_write_server/],
    ['GRANT CREATE ON SCHEMA public TO %', /it may create objects beside the tables\./],
    ['GRANT CREATE ON SCHEMA public TO PUBLIC', /it may create objects beside the tables\./],
    ['ALTER FUNCTION ensure_log_partitions OWNER TO %', /it owns the functions\./],
  ] as const) {
    test(`78 for a login after ${give}, which leads to more than it should have`, async () => {
      await withDatabase({ make: 'NOINHERIT', isMigrated: true }, async (login, database) => {
        const client = await connectAs({ ...beside.ownerTarget, database });
        await client.query(give.replace('%', login));
        const sentence = await refusal(login, database);
        // What a role owns or was given in one database keeps it from being removed.
        await client.query(`REASSIGN OWNED BY ${login} TO CURRENT_USER; DROP OWNED BY ${login}`);
        await client.end();
        assert.match(sentence, word);
      });
    });
  }

  test('78 for a login that may create schemas in the database, and with that extensions', async () => {
    await withDatabase({ make: 'NOINHERIT', isMigrated: true }, async (login, database) => {
      await beside.owner.query(`GRANT CREATE ON DATABASE ${database} TO ${login}`);
      assert.match(await refusal(login, database), /it may create schemas\./);
    });
  });

  test('78 for a login that owns one table of many', async () => {
    await withDatabase({ make: 'NOINHERIT', isMigrated: true }, async (login, database) => {
      const client = await connectAs({ ...beside.ownerTarget, database });
      await client.query(`ALTER TABLE token_terms OWNER TO ${login}`);
      await client.end();
      assert.match(await refusal(login, database), /it owns the tables\./);
    });
  });
});
