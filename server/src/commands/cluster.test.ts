// needs: processes

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CitusServers } from '@strongroom/test-servers/citus.js';
import { startCitus, unlessCitus } from '@strongroom/test-servers/citus.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import type pg from 'pg';
import { generateRootKey } from '../crypto/root-key.js';
import type { CommandSettings, Ended } from '../testing/command-runner.js';
import { runToEnd, serveWith, succeed } from '../testing/command-runner.js';
import { eventually } from '../testing/eventually.js';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031 };
const PERMISSIONS = ['token:create', 'token:read', 'token:use', 'token:search', 'token:delete'];

/** A database on the coordinator that was filled while it was on one server. */
describe('commands on a Citus cluster', { skip: unlessCitus() }, () => {
  let cluster: CitusServers;
  let superuser: pg.Client;
  let settings: CommandSettings;
  let folder: string;
  let tenantId: string;
  let key: string;
  let tokenIds: string[];

  const run = (...words: string[]): Promise<Ended> => runToEnd(settings, ...words);
  const doctor = async (): Promise<string> => (await run('doctor')).stdout;

  async function makeTokens(count: number): Promise<string[]> {
    const served = await serveWith(settings);
    try {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) {
        const body = { type: 'card', data: CARD, metadata: { n: String(n) }, search_indexes: ['{{ data.number }}'] };
        const made = await served.call('POST', '/tokens', { key, body });
        assert.equal(made.status, 201, made.text);
        ids.push(made.json.id);
      }
      return ids;
    } finally {
      await served.stop();
    }
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-cluster-'));
    // What was committed in two phases stays noted.
    cluster = await startCitus({ settings: { 'citus.recover_2pc_interval': '-1' } });
    superuser = await cluster.coordinator.connect();
    settings = {
      STRONGROOM_DATABASE_URL: cluster.coordinator.url('service'),
      STRONGROOM_MIGRATION_DATABASE_URL: cluster.coordinator.url('owner'),
      STRONGROOM_ROOT_KEY: generateRootKey().reveal(),
      STRONGROOM_DATA_DIR: join(folder, 'data'),
    };
    await succeed(settings, 'migrate');
    tenantId = (await succeed(settings, 'tenant', 'create', '--name', 'Spread')).stdout;
    const rights = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
    key = (await succeed(settings, 'application', 'create', '--tenant', tenantId, '--type', 'private', ...rights))
      .stdout;
    tokenIds = await makeTokens(5);
  });
  after(async () => {
    await superuser?.end();
    await cluster?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('69 from migrate --distribute while a process serves, and nothing is changed', async () => {
    const served = await serveWith(settings);
    try {
      const refused = await run('migrate', '--distribute', 'citus');
      assert.equal(refused.code, 69, refused.stderr);
      assert.match(refused.stderr, /in use by \d+ sessions? of the service.*No table was distributed/);
      const read = await served.call('GET', `/tokens/${tokenIds[0]}`, { key });
      assert.equal(read.status, 200, read.text);
    } finally {
      await served.stop();
    }
  });

  it('78 from migrate --distribute where a table cannot be; what is half done is refused, and the next run ends it', async () => {
    await superuser.query('CREATE UNIQUE INDEX in_the_way ON sessions (hash)');
    const failed = await run('migrate', '--distribute', 'citus');
    assert.equal(failed.code, 78, failed.stderr);
    assert.match(failed.stderr, /table sessions could not be distributed.*run the same command again/);
    const refused = await run('tenant', 'list');
    assert.equal(refused.code, 78);
    assert.match(refused.stderr, /some of the tables.*not others.*migrate --distribute citus again/);
    await superuser.query('DROP INDEX in_the_way');
    const done = await run('migrate', '--distribute', 'citus');
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout + done.stderr, /Distributed: sessions, .*pg_hba\.conf of the coordinator/s);
    const again = await run('migrate', '--distribute', 'citus');
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout + again.stderr, /The tables are distributed/);
  });

  it('what was there is on the servers and nowhere else, and is found by the same key', async () => {
    const spread = await superuser.query<{ name: string; servers: number }>(
      `SELECT table_name::text AS name, count(DISTINCT nodeport)::int AS servers FROM citus_shards
       WHERE table_name = 'tokens'::regclass GROUP BY table_name`,
    );
    assert.deepEqual(spread.rows, [{ name: 'tokens', servers: 2 }]);
    for (const table of ['tokens', 'logs', 'tenants', 'api_keys']) {
      const local = await superuser.query<{ bytes: string }>(
        'SELECT coalesce(sum(pg_relation_size(relid)), 0) AS bytes FROM pg_partition_tree($1)',
        [table],
      );
      assert.equal(Number(local.rows[0]?.bytes), 0, `${table} has no row left on the coordinator`);
    }
    const served = await serveWith(settings);
    try {
      for (const id of tokenIds) {
        const read = await served.call('GET', `/tokens/${id}`, { key });
        assert.equal(read.status, 200, read.text);
        assert.deepEqual(read.json.data, { ...CARD, number: 'XXXXXXXXXXXX4242' });
      }
      const found = await served.call('POST', '/tokens/search', { key, body: { query: `data:${CARD.number}` } });
      assert.equal(found.json.pagination.total_items, tokenIds.length);
    } finally {
      await served.stop();
    }
  });

  it('0 from doctor, which counts the servers, and names whatever is missing with what to do', async () => {
    // Servers of tests trust everybody on loopback, so that one is always said.
    const OPEN_DOOR =
      /^warning {2}cluster: Anybody who reaches the coordinator may sign in as strongroom_app\. Put this/m;
    assert.match(await doctor(), OPEN_DOOR);
    const cases: [string, string, RegExp][] = [
      [
        'ALTER ROLE strongroom_people NOLOGIN',
        'ALTER ROLE strongroom_people LOGIN',
        /role strongroom_people may not sign in.*migrate --distribute citus again/,
      ],
      [
        'ALTER ROLE strongroom_app RESET statement_timeout',
        `ALTER ROLE strongroom_app SET statement_timeout TO '5000'`,
        /role strongroom_app lacks the setting statement_timeout=5000/,
      ],
    ];
    for (const [damage, repair, words] of cases) {
      await superuser.query(damage);
      assert.match(await doctor(), words);
      await superuser.query(repair);
      assert.doesNotMatch(await doctor(), words);
    }
    const [worker] = cluster.workers;
    await worker?.end('SIGQUIT');
    assert.match(await doctor(), /Not every server of the cluster answers .*Tenants on the others are served/);
    await worker?.start();
    assert.doesNotMatch(await doctor(), /Not every server/);
  });

  it('78 from doctor and serve where a replica is named: one server says nothing of the others', async () => {
    const url = cluster.coordinator.url('service');
    const ended = await runToEnd({ ...settings, STRONGROOM_DATABASE_REPLICA_URL: url, STRONGROOM_PORT: '0' }, 'serve');
    assert.equal(ended.code, 78, ended.stderr);
    assert.match(ended.stderr, /STRONGROOM_DATABASE_REPLICA_URL.*Remove the setting/);
  });

  it('78 from backup and restore, with the reason and the way that there is', async () => {
    for (const words of [
      ['backup', '--to', join(folder, 'backup')],
      ['restore', '--from', join(folder, 'backup')],
    ]) {
      const refused = await run(...words);
      assert.notEqual(refused.code, 0, words.join(' '));
    }
    const refused = await run('backup', '--to', join(folder, 'backup'));
    assert.equal(refused.code, 78, refused.stderr);
    assert.match(refused.stderr, /share no moment.*docs\/scaling\.md/);
  });

  it('0 from keys verify, rotate and rotate-root; every token is readable afterwards', async () => {
    const verified = await run('keys', 'verify');
    assert.equal(verified.code, 0, verified.stderr + verified.stdout);
    const rotated = await run('keys', 'rotate', '--tenant', tenantId);
    assert.equal(rotated.code, 0, rotated.stderr);
    const next = generateRootKey().reveal();
    settings = { ...settings, STRONGROOM_ROOT_KEY: `${next},${settings.STRONGROOM_ROOT_KEY}` };
    const root = await run('keys', 'rotate-root');
    assert.equal(root.code, 0, root.stderr);
    settings = { ...settings, STRONGROOM_ROOT_KEY: next };
    assert.equal((await run('keys', 'verify')).code, 0);
    tokenIds.push(...(await makeTokens(1)));
  });

  it('0 from tokens export and import: a tenant is moved whole, to another one on the same cluster', async () => {
    const [words, file] = [join(folder, 'words'), join(folder, 'tokens.export')];
    await writeFile(words, 'six random words are good here', { mode: 0o600 });
    const passphrase = ['--passphrase-file', words];
    await succeed(settings, 'tokens', 'export', '--tenant', tenantId, '--out', file, ...passphrase);
    const other = (await succeed(settings, 'tenant', 'create', '--name', 'Other')).stdout;
    await succeed(settings, 'tokens', 'import', '--tenant', other, '--in', file, ...passphrase);
    const { rows } = await superuser.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM tokens WHERE tenant_id = $1',
      [other],
    );
    assert.equal(rows[0]?.n, tokenIds.length);
  });

  it('a tenant and its owner, who is on the coordinator, are committed in two phases', async () => {
    const count = async (): Promise<number> =>
      (await superuser.query<{ n: number }>('SELECT count(*)::int AS n FROM pg_dist_transaction')).rows[0]?.n ?? 0;
    const before = await count();
    await succeed(settings, 'tenant', 'create', '--name', 'Whole');
    assert.ok((await count()) > before);
  });

  it('no month of the log is made while a worker cannot commit; a process starts all the same, and others go on', async () => {
    const hung = await workerWithout(tenantId);
    const [month] = (await superuser.query<{ name: string }>(FARTHEST_MONTH)).rows;
    await superuser.query(`DROP TABLE ${month?.name}`);
    await waitForStandby(hung, 'nobody');
    assert.match(await doctor(), /cluster: Not every server of the cluster commits a change in time/);
    const served = await serveWith(settings);
    try {
      // The job has asked whether every server commits, and that question hangs.
      const asks = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
      await eventually('every server is asked', async () => (await askOn(hung, asks)).rowCount === 1);
      tokenIds.push(...(await makeTokens(1)));
      const read = await served.call('GET', `/tokens/${tokenIds[0]}`, { key });
      assert.equal(read.status, 200, read.text);
      assert.notEqual((await superuser.query<{ name: string }>(FARTHEST_MONTH)).rows[0]?.name, month?.name);
    } finally {
      await served.stop();
      await waitForStandby(hung, '');
    }
    const again = await serveWith(settings);
    const isMade = async () => (await superuser.query<{ name: string }>(FARTHEST_MONTH)).rows[0]?.name === month?.name;
    await eventually('the month is made', isMade);
    await again.stop();
  });

  /** A server that has no row of the tenant. */
  async function workerWithout(id: string): Promise<PostgresServer> {
    const { rows } = await superuser.query<{ port: number }>(
      `SELECT nodeport AS port FROM citus_shards
       WHERE shardid = get_shard_id_for_distribution_column('public.tenants', $1::uuid)`,
      [id],
    );
    const other = cluster.workers.find(({ port }) => port !== rows[0]?.port);
    assert.ok(other);
    return other;
  }
});

const FARTHEST_MONTH = `SELECT relid::regclass::text AS name FROM pg_partition_tree('logs') WHERE isleaf ORDER BY 1 DESC LIMIT 1`;

async function askOn(server: PostgresServer, sql: string): Promise<pg.QueryResult> {
  const client = await server.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Its changes commit once that standby has them. */
async function waitForStandby(server: PostgresServer, name: string): Promise<void> {
  await askOn(server, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await askOn(server, 'SELECT pg_reload_conf()');
}
