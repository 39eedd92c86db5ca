// needs: processes

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type pg from 'pg';
import { generateApiKey } from '../access/api-key.js';
import { LIMITS } from '../limits/catalogue.js';
import { TABLES } from '../resources.js';
import { findClusterProcesses } from '../storage/embedded/cluster-processes.js';
import { findRunningServer } from '../storage/embedded/running-server.js';
import { inPurgeOrder } from '../tables/table.js';
import { connectAs } from '../testing/empty-database.js';
import { BEFORE_ECHO_MS, eventually } from '../testing/eventually.js';
import type { Call } from '../testing/http-client.js';
import { createCaller } from '../testing/http-client.js';
import type { Connection, Env, WorkerServer } from '../testing/worker-server.js';
import { holdChange, isRunning, launchWorkers, MAIN, openConnection, operatorEnv } from '../testing/worker-server.js';

const WORKERS = 3;
const CONNECTIONS = 24;
const TENANT_REQUESTS = 'strongroom_http_requests_total{route="GET /tenants/self",status="200"}';
/** Without a key it is 401 once the limits have let it pass. */
const SEARCH = '/tokens/search';
const PURGED = 'strongroom_purged_rows_total';

describe('serve with several workers', () => {
  const apiKey = generateApiKey('management').reveal();
  let folder: string;
  let env: Env;
  let server: WorkerServer;
  let address: string;
  let call: Call;
  let owner: pg.Client;
  const connections: Connection[] = [];
  let clients = 0;

  before(async () => {
    folder = await mkdtemp('/tmp/sr-workers-');
    env = {
      STRONGROOM_DATA_DIR: join(folder, 'data'),
      STRONGROOM_WORKERS: String(WORKERS),
      STRONGROOM_TRUSTED_PROXIES: 'loopback',
      STRONGROOM_MADE_UP: 'yes',
    };
    server = await launchWorkers(folder, { ...env, STRONGROOM_BOOTSTRAP_API_KEY: apiKey });
    address = await server.ready();
    call = createCaller(address);
    const running = await findRunningServer(join(folder, 'data'));
    assert.ok(running);
    owner = await connectAs({ ...running, user: running.ownerRole });
  });
  // Whatever a test that failed has left.
  beforeEach(async () => {
    await owner.query('ROLLBACK');
    await owner.query('SELECT pg_advisory_unlock_all()');
  });
  after(async () => {
    for (const connection of connections) connection.close();
    await owner?.end();
    server?.child.kill('SIGKILL');
    await server?.ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  });

  /** A client the rate limits have not seen. */
  const newClient = (): Env => {
    clients += 1;
    return { 'X-Forwarded-For': `198.51.${clients >> 8}.${clients & 255}` };
  };

  /** Many connections that stay open. Made one after the other, so that every worker is free for its share. */
  async function spread(): Promise<Connection[]> {
    while (connections.length < CONNECTIONS) {
      const connection = openConnection(address);
      connections.push(connection);
      assert.equal(await connection.send('GET', '/healthz', newClient()), 200);
    }
    return connections;
  }

  async function strongroom(...words: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...words], { env: operatorEnv(env) });
    return stdout.trim();
  }

  /** A tenant of its own with some rows, made by commands beside the server. */
  async function makeTenant(): Promise<{ id: string; key: string }> {
    const id = /[0-9a-f-]{36}/.exec(await strongroom('tenant', 'create', '--name', 'Doomed'))?.[0] ?? '';
    const grants = ['tenant:read', 'tenant:update', 'tenant:delete'].flatMap((name) => ['--permission', name]);
    const made = await strongroom('application', 'create', '--tenant', id, '--type', 'management', ...grants);
    const key = /key_mgt_[0-9A-Za-z]{32}/.exec(made)?.[0] ?? assert.fail(made);
    for (let turn = 1; turn <= 5; turn += 1) {
      const { status } = await call('PUT', '/tenants/self', {
        key,
        body: { name: `Doomed ${turn}` },
        headers: newClient(),
      });
      assert.equal(status, 200);
    }
    await owner.query(`INSERT INTO active_tokens SELECT $1, '2030-01-01', 't' || n FROM generate_series(1, 5) n`, [id]);
    return { id, key };
  }

  async function rowsOf(tenantId: string): Promise<number> {
    const counts = inPurgeOrder(TABLES).map(({ name }) => `(SELECT count(*) FROM ${name} WHERE tenant_id = $1)`);
    const { rows } = await owner.query(`SELECT (${counts.join(' + ')})::int AS count`, [tenantId]);
    return rows[0].count;
  }

  it('says once that it is ready, once what setting is not known and once who is welcome, when all workers listen', () => {
    const shown = server.shown();
    assert.equal(server.lines('ready').length, 1);
    assert.equal(server.lines('this setting is not known and is ignored').length, 1);
    assert.equal(shown.match(/Welcome/g)?.length, 1);
    assert.deepEqual([...server.workers().keys()].sort(), [1, 2, 3]);
    assert.equal(new Set(server.workers().values()).size, WORKERS);
    const readyAt = Number(server.lines('ready')[0]?.time);
    assert.ok(server.lines('a worker listens').every(({ time }) => Number(time) <= readyAt));
    assert.ok(shown.indexOf('Welcome') < shown.indexOf('"msg":"ready"'));
    assert.ok(!shown.includes(apiKey));
  });

  it('200 for 2,000 requests over many connections: every worker answers, each line says which, one scrape has all', async () => {
    const before = (await server.scrape()).get(TENANT_REQUESTS) ?? 0;
    await Promise.all(
      (await spread()).map(async (connection, index) => {
        const share = Math.floor(2_000 / CONNECTIONS) + (index < 2_000 % CONNECTIONS ? 1 : 0);
        for (let sent = 0; sent < share; sent += 1) {
          const status = await connection.send('GET', '/tenants/self', { ...newClient(), 'SVC-API-KEY': apiKey });
          assert.equal(status, 200);
        }
      }),
    );
    const scraped = await server.scrape();
    assert.equal((scraped.get(TENANT_REQUESTS) ?? 0) - before, 2_000);
    assert.equal(scraped.get('strongroom_workers'), WORKERS);
    const answered = () => server.lines('request').filter(({ route }) => route === 'GET /tenants/self');
    await eventually('every request has its line', () => answered().length >= 2_000);
    for (const worker of [1, 2, 3]) {
      const share = answered().filter((line) => line.worker === worker).length;
      assert.ok(share > 300, `worker ${worker} answered ${share}`);
    }
  });

  it('429 past the limit of the node as a whole, not of each worker', async () => {
    const client = newClient();
    const statuses = await Promise.all(
      (await spread()).map(async (connection) => {
        const got: number[] = [];
        for (let sent = 0; sent < 5; sent += 1) got.push(await connection.send('POST', SEARCH, client));
        return got;
      }),
    );
    const all = statuses.flat();
    assert.equal(all.filter((status) => status === 401).length, LIMITS.tokensSearch.requests);
    assert.equal(all.filter((status) => status === 429).length, 5 * CONNECTIONS - LIMITS.tokensSearch.requests);
  });

  it('served while the keeper hangs, and 429 past the limit even then', async (t) => {
    const [connection] = await spread();
    assert.ok(connection);
    assert.equal(await connection.send('GET', '/healthz', newClient()), 200);
    process.kill(server.pid, 'SIGSTOP');
    t.after(() => process.kill(server.pid, 'SIGCONT'));
    assert.equal(await connection.send('GET', '/healthz', newClient()), 200);
    const client = newClient();
    const statuses: number[] = [];
    const { requests } = LIMITS.tokensSearch;
    for (let sent = 0; sent < requests + 10; sent += 1) statuses.push(await connection.send('POST', SEARCH, client));
    assert.deepEqual(new Set(statuses.slice(0, requests)), new Set([401]));
    assert.deepEqual(new Set(statuses.slice(requests)), new Set([429]));
  });

  it('a scrape does not wait for a worker that hangs, and no counter goes back', async (t) => {
    const before = (await server.scrape()).get(TENANT_REQUESTS) ?? 0;
    const hung = server.workers().get(2) ?? assert.fail('a second worker');
    process.kill(hung, 'SIGSTOP');
    t.after(() => process.kill(hung, 'SIGCONT'));
    const scraped = await server.scrape();
    assert.ok((scraped.get(TENANT_REQUESTS) ?? 0) >= before && before >= 2_000);
    const memory = [...scraped].filter(([name]) => name.startsWith('strongroom_process_resident_memory_bytes'));
    assert.deepEqual(memory.map(([name]) => /worker="(\w+)"/.exec(name)?.[1]).sort(), ['1', '2', '3', 'keeper']);
    t.diagnostic(memory.map(([name, bytes]) => `${name.slice(-12)} ${Math.round(bytes / 2 ** 20)} MiB`).join(', '));
  });

  it('401 from every worker, all of which are told of it, after one of them deleted the Application', async () => {
    const body = { name: 'Short-lived', type: 'management', permissions: ['tenant:read'] };
    const { status, json } = await call('POST', '/applications', { key: apiKey, body, headers: newClient() });
    assert.equal(status, 201);
    const all = await spread();
    const ask = () =>
      Promise.all(all.map((one) => one.send('GET', '/tenants/self', { ...newClient(), 'SVC-API-KEY': json.key })));
    assert.deepEqual(new Set(await ask()), new Set([200]));
    assert.equal((await call('DELETE', `/applications/${json.id}`, { key: apiKey, headers: newClient() })).status, 204);
    await eventually('all refuse', async () => (await ask()).every((each) => each === 401), BEFORE_ECHO_MS);
  });

  it('background work is done by nobody while another leads, then once: every row of a deleted tenant counts one time', async () => {
    const { id, key } = await makeTenant();
    await owner.query(`SELECT pg_advisory_lock(hashtext('strongroom.job.purge'))`);
    const before = (await server.scrape()).get(PURGED) ?? 0;
    assert.equal((await call('DELETE', '/tenants/self', { key, headers: newClient() })).status, 204);
    const left = await rowsOf(id);
    assert.ok(left >= 6, `${left} rows`);
    assert.equal((await server.scrape()).get(PURGED), before);
    await owner.query(`SELECT pg_advisory_unlock(hashtext('strongroom.job.purge'))`);
    await eventually('all rows are removed', async () => (await rowsOf(id)) === 0);
    await eventually('and counted', async () => (await server.scrape()).get(PURGED) === before + left);
  });

  it('the worker that leads is killed at work: another takes over and finishes, and another worker takes its place', async () => {
    const { id, key } = await makeTenant();
    // A row the purge has to wait for keeps whoever leads at work.
    await owner.query('BEGIN');
    await owner.query('SELECT 1 FROM active_tokens WHERE tenant_id = $1 FOR UPDATE', [id]);
    const headers = { ...newClient(), 'SVC-TRACE-ID': `delete-${id}` };
    assert.equal((await call('DELETE', '/tenants/self', { key, headers })).status, 204);
    await eventually('somebody leads', async () => {
      const { rows } = await owner.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted
        AND objid::bigint = (hashtext('strongroom.job.purge')::bigint & 4294967295)`);
      assert.ok(rows.length <= 1, 'one leader at a time');
      return rows.length === 1;
    });
    const line = () => server.lines('request').find(({ traceId }) => traceId === `delete-${id}`);
    await eventually('the line of the deletion', () => line() !== undefined);
    const slot = Number(line()?.worker);
    const leader = server.workers().get(slot) ?? assert.fail('a known worker');
    const counted = (await server.scrape()).get(TENANT_REQUESTS) ?? 0;
    process.kill(leader, 'SIGKILL');
    await owner.query('ROLLBACK');
    await eventually('another finishes', async () => (await rowsOf(id)) === 0);
    await eventually('another takes its place', () => server.workers().get(slot) !== leader);
    assert.deepEqual(server.lines('a worker ended; another takes its place').at(-1)?.how, 'SIGKILL');
    const scraped = await server.scrape();
    assert.ok((scraped.get(TENANT_REQUESTS) ?? 0) >= counted, 'what the dead one counted stays');
    assert.equal(scraped.get('strongroom_workers'), WORKERS);
  });

  it('SIGTERM to all at once, as Ctrl-C does: what is under way is finished, exit 0, nothing is left', async () => {
    const pids = [...server.workers().values()];
    const held = holdChange(address, apiKey, newClient());
    await eventually('held', async () => (await server.scrape()).get('strongroom_http_bodies_waiting') === 1);
    process.kill(-server.pid, 'SIGTERM');
    const isStopping = () => server.lines('stopping').some(({ worker }) => worker === undefined);
    await eventually('stopping', isStopping);
    assert.ok(pids.some(isRunning), 'one waits for its request');
    held.finish();
    assert.equal(await held.status, 200);
    assert.equal(await server.ended, 0);
    assert.equal(server.lines('stopped').length, 1);
    assert.ok(!pids.some(isRunning));
    assert.deepEqual(await findClusterProcesses(join(folder, 'data', 'postgres')), []);
  });
});
