import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { INSERT_NOTE, LIST_NOTES, makeNotesTable, storedNotes } from '../testing/notes-table.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Bulk } from './bulk.js';
import { clientConfig, DEFAULT_TIME_BOUNDS, openScope } from './connection.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import { sqlStateOf } from './faults.js';
import { ConnectionPool } from './pool.js';
import type { Tx } from './scope.js';
import { statement } from './statement.js';

interface Identity {
  readonly role: string;
  readonly login: string;
  readonly tenants: string;
  readonly is_read_only: string;
  readonly statement_timeout: string;
  readonly lock_timeout: string;
  readonly idle_timeout: string;
  readonly backend: number;
}

const IDENTITY_SQL = `SELECT current_user::text AS role, session_user::text AS login,
  coalesce(current_setting('strongroom.tenants', true), '') AS tenants,
  current_setting('transaction_read_only') AS is_read_only,
  current_setting('statement_timeout') AS statement_timeout, current_setting('lock_timeout') AS lock_timeout,
  current_setting('idle_in_transaction_session_timeout') AS idle_timeout, pg_backend_pid() AS backend`;
const FIND_IDENTITY = statement<Identity>('find_identity', IDENTITY_SQL);
const LIST_TENANT_IDS = statement<{ id: string }>('list_tenant_ids', 'SELECT id FROM tenants ORDER BY id LIMIT 100');
const LIST_LOG_IDS = statement<{ id: string }>('list_log_ids', 'SELECT id FROM logs LIMIT 1');
const RENAME_TENANTS = statement<never>('rename_tenants', `UPDATE tenants SET name = 'renamed'`);
const DELETE_KEYS = statement<{ tenant_id: string }>('delete_keys', 'DELETE FROM tenant_keys RETURNING tenant_id');

const PERMISSION_DENIED = '42501';
const READ_ONLY_TRANSACTION = '25006';
const LIVING = newId();
const DELETED = newId();
const ALSO_DELETED = newId();

function refusedWith(state: string): (error: unknown) => boolean {
  return (error) => sqlStateOf(error) === state;
}

suite('transactions', () => {
  let db: TestDatabase;
  let database: Database;

  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    await makeNotesTable(db.owner);
    await db.owner.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [LIVING]);
    for (const id of [LIVING, DELETED, ALSO_DELETED]) {
      await db.owner.query(
        `INSERT INTO tenants (id, owner_id, name, created_at, deleted_at) VALUES ($1, $2, 'kept', now(), $3)`,
        [id, LIVING, id === LIVING ? null : new Date()],
      );
      await db.owner.query(
        `INSERT INTO tenant_keys (tenant_id, kind, version, wrapped, created_at) VALUES ($1, 'data', 1, '', now())`,
        [id],
      );
    }
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  async function identityIn(open: (work: (tx: Tx) => Promise<Identity | undefined>) => Promise<Identity | undefined>) {
    const found = await open(async (tx) => (await tx.run(FIND_IDENTITY, []))[0]);
    assert.ok(found);
    return found;
  }

  test('each way in has its own role and scope, and signs in as the plain login', async () => {
    const user = 'strongroom';
    const shown = async (open: Parameters<typeof identityIn>[0]) => {
      const { role, login, tenants, is_read_only } = await identityIn(open);
      return { role, login, tenants, is_read_only };
    };
    assert.deepEqual(await shown((work) => database.read(LIVING, work)), {
      role: 'strongroom_app',
      login: user,
      tenants: LIVING,
      is_read_only: 'on',
    });
    assert.deepEqual(
      await shown((work) => database.readAtOnce(LIVING, work)),
      await shown((work) => database.read(LIVING, work)),
    );
    assert.deepEqual(await shown((work) => database.write(LIVING, work)), {
      role: 'strongroom_app',
      login: user,
      tenants: LIVING,
      is_read_only: 'off',
    });
    assert.deepEqual(await shown((work) => database.lookUp(work)), {
      role: 'strongroom_system',
      login: user,
      tenants: '',
      is_read_only: 'on',
    });
    assert.deepEqual(await shown((work) => database.system(work)), {
      role: 'strongroom_system',
      login: user,
      tenants: '',
      is_read_only: 'off',
    });
    assert.deepEqual(await shown((work) => database.purge(DELETED, work)), {
      role: 'strongroom_purge',
      login: user,
      tenants: DELETED,
      is_read_only: 'off',
    });
  });

  test('every transaction carries the bounds on time', async () => {
    const found = await identityIn((work) => database.write(LIVING, work));
    assert.deepEqual([found.statement_timeout, found.lock_timeout, found.idle_timeout], ['5s', '3s', '5s']);
  });

  test('a read that names no tenant finds the rows of its own tenant alone', async () => {
    const other = newId();
    await database.write(LIVING, (tx) => tx.run(INSERT_NOTE, [LIVING, 'mine']));
    await database.write(other, (tx) => tx.run(INSERT_NOTE, [other, 'theirs']));
    const seen = await database.read(LIVING, (tx) => tx.run(LIST_NOTES, []));
    assert.deepEqual(seen, [{ tenant_id: LIVING, id: 'mine' }]);
    assert.deepEqual(await database.read(newId(), (tx) => tx.run(LIST_NOTES, [])), []);
  });

  test('a row written into another tenant is refused, and nothing of that change is stored', async () => {
    const before = await storedNotes(db.owner);
    const foreign = database.write(LIVING, async (tx) => {
      await tx.run(INSERT_NOTE, [LIVING, 'first half']);
      await tx.run(INSERT_NOTE, [newId(), 'into another tenant']);
    });
    await assert.rejects(foreign, refusedWith(PERMISSION_DENIED));
    assert.deepEqual(await storedNotes(db.owner), before);
  });

  test('a change that throws after its statements leaves nothing behind', async () => {
    const before = await storedNotes(db.owner);
    const broken = database.write(LIVING, async (tx) => {
      await tx.run(INSERT_NOTE, [LIVING, 'never']);
      throw new Error('second thoughts');
    });
    await assert.rejects(broken, /second thoughts/);
    assert.deepEqual(await storedNotes(db.owner), before);
  });

  test('a read and a look-up cannot change anything', async () => {
    const writing = database.read(LIVING, (tx) => tx.run(INSERT_NOTE, [LIVING, 'in a read']));
    await assert.rejects(writing, refusedWith(READ_ONLY_TRANSACTION));
    await assert.rejects(database.lookUp((tx) => tx.run(RENAME_TENANTS, [])));
  });

  test('a read at once that asks again after it waited is refused, and its connections serve on', async () => {
    const late = database.readAtOnce(LIVING, async (tx) => {
      await tx.run(LIST_LOG_IDS, []);
      return tx.run(LIST_LOG_IDS, []);
    });
    await assert.rejects(late, /everything is asked for at once/);
    const asked = Array.from({ length: 40 }, () =>
      database.readAtOnce(LIVING, (tx) => Promise.all([tx.run(LIST_LOG_IDS, []), tx.run(LIST_TENANT_IDS, [])])),
    );
    for (const [logs, tenants] of await Promise.all(asked)) {
      assert.deepEqual(logs, []);
      assert.deepEqual(tenants, [{ id: LIVING }]);
    }
  });

  test('a look whose values cannot be made fails, and its connection serves on', async () => {
    const connections = { readMax: 1, writeMax: 1 };
    const narrow = createDatabase({
      target: db.target,
      isDistributed: db.isDistributed,
      clock: systemClock,
      connections,
    });
    const broken: Bulk<string, { id: string }, number> = {
      statement: LIST_LOG_IDS,
      order: 0,
      values: () => {
        throw new Error('no such value');
      },
      collect: (rows) => rows.length,
    };
    await assert.rejects(narrow.find(LIVING, broken, 'row'), /no such value/);
    assert.deepEqual(await narrow.read(LIVING, (tx) => tx.run(LIST_LOG_IDS, [])), []);
    // Only here: with a connection that nobody gave back it would wait for ever.
    await narrow.close();
  });

  test('a look that the server refuses costs no connection: its transaction is over and the same one serves on', async () => {
    const single = createDatabase({
      target: db.target,
      isDistributed: db.isDistributed,
      clock: systemClock,
      connections: { readMax: 1, writeMax: 1 },
    });
    const backend = async () => (await single.read(LIVING, (tx) => tx.run(FIND_IDENTITY, [])))[0]?.backend;
    const broken: Bulk<string, { id: string }, string[]> = {
      statement: statement('look_by_text', 'SELECT $1::text AS id'),
      order: 1,
      values: (rows) => [rows.join('')],
      collect: (results) => results.map(({ id }) => id),
    };
    try {
      const before = await backend();
      const outcomes = await Promise.allSettled(
        [LIVING, DELETED].map((id, n) => single.find(id, broken, n === 0 ? 'good' : 'a\u0000b')),
      );
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected'],
      );
      assert.equal(await backend(), before);
    } finally {
      await single.close();
    }
  });

  test('a look-up sees the tenants of everybody, and neither their logs nor their data', async () => {
    const seen = await database.lookUp((tx) => tx.run(LIST_TENANT_IDS, []));
    assert.deepEqual(
      seen.map(({ id }) => id),
      [LIVING, DELETED, ALSO_DELETED].sort(),
    );
    for (const hidden of [LIST_LOG_IDS, LIST_NOTES]) {
      await assert.rejects(
        database.lookUp((tx) => tx.run<unknown>(hidden, [])),
        refusedWith(PERMISSION_DENIED),
      );
      await assert.rejects(
        database.system((tx) => tx.run<unknown>(hidden, [])),
        refusedWith(PERMISSION_DENIED),
      );
    }
  });

  test('the system scope cannot change a tenant', async () => {
    await assert.rejects(
      database.system((tx) => tx.run(RENAME_TENANTS, [])),
      refusedWith(PERMISSION_DENIED),
    );
  });

  test('a purge removes nothing of a living tenant, nor of another deleted one', async () => {
    const ofLiving = await database.purge(LIVING, (tx) => tx.run(DELETE_KEYS, []));
    assert.deepEqual(ofLiving, []);
    const ofDeleted = await database.purge(DELETED, (tx) => tx.run(DELETE_KEYS, []));
    assert.deepEqual(ofDeleted, [{ tenant_id: DELETED }]);
  });

  test('a purge sees the row of its own deleted tenant alone', async () => {
    const seen = await database.purge(DELETED, (tx) => tx.run(LIST_TENANT_IDS, []));
    assert.deepEqual(seen, [{ id: DELETED }]);
    assert.deepEqual(await database.purge(LIVING, (tx) => tx.run(LIST_TENANT_IDS, [])), []);
  });

  test('a purge cannot change what it may delete', async () => {
    await assert.rejects(
      database.purge(DELETED, (tx) => tx.run(RENAME_TENANTS, [])),
      refusedWith(PERMISSION_DENIED),
    );
  });

  test('the login by itself, outside every scope, may touch no table', async () => {
    const client = new pg.Client(clientConfig(db.target, DEFAULT_TIME_BOUNDS));
    await client.connect();
    try {
      const { rows } = await db.owner.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY relname`,
      );
      assert.ok(rows.length > 10);
      for (const { name } of rows) {
        await assert.rejects(client.query(`SELECT FROM ${name}`), refusedWith(PERMISSION_DENIED), name);
        await assert.rejects(client.query(`DELETE FROM ${name}`), refusedWith(PERMISSION_DENIED), name);
      }
    } finally {
      await client.end();
    }
  });

  test('a connection carries neither role nor tenants nor bounds out of a transaction, however it ended', async () => {
    const pool = new ConnectionPool(db.target, DEFAULT_TIME_BOUNDS, 1);
    const client = await pool.connect();
    try {
      const identity = async (): Promise<Identity | undefined> => (await client.query<Identity>(IDENTITY_SQL)).rows[0];
      const bare = await identity();
      assert.equal(bare?.role, 'strongroom');
      for (const ending of ['COMMIT', 'ROLLBACK', 'failure']) {
        const scope = { role: 'strongroom_app', tenants: [LIVING], isReadOnly: false } as const;
        await openScope(client, scope, DEFAULT_TIME_BOUNDS);
        assert.equal((await identity())?.tenants, LIVING);
        if (ending === 'failure') await assert.rejects(client.query('SELECT 1 / 0'));
        await client.query(ending === 'failure' ? 'ROLLBACK' : ending);
        assert.deepEqual(await identity(), bare, ending);
      }
    } finally {
      client.release();
      await pool.end();
    }
  });

  test('one connection serves tenant after tenant, and each sees itself alone', async () => {
    const backends = new Set<number>();
    for (let turn = 0; turn < 40; turn += 1) {
      const tenantId = newId();
      if (turn % 3 === 0) await assert.rejects(database.read(tenantId, () => Promise.reject(new Error('on purpose'))));
      const found = await identityIn((work) => database.read(tenantId, work));
      assert.deepEqual([found.role, found.tenants], ['strongroom_app', tenantId]);
      const looking = await identityIn((work) => database.lookUp(work));
      assert.deepEqual([looking.role, looking.tenants], ['strongroom_system', '']);
      backends.add(found.backend);
    }
    assert.ok(backends.size < 40, 'no connection was used twice, so nothing was proven');
  });
});
