// needs: processes

import assert from 'node:assert/strict';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { findClusterProcesses } from '../storage/embedded/cluster-processes.js';
import type { Journal } from '../testing/crash/journal.js';
import { createJournal, startLoad } from '../testing/crash/journal.js';
import { prepareFolder } from '../testing/crash/rounds.js';
import { verify } from '../testing/crash/verify.js';
import { eventually } from '../testing/eventually.js';
import { createCaller } from '../testing/http-client.js';
import type { Env, WorkerServer } from '../testing/worker-server.js';
import { isRunning, launchWorkers, openConnection } from '../testing/worker-server.js';

const WRITERS_PER_KEY = 4;
const UPDATES = 'strongroom_http_requests_total{route="PUT /tenants/self",status="200"}';
const TAKES_PLACE = 'a worker ended; another takes its place';

describe('serve with several workers, killed', () => {
  let folder: string;
  let dataDir: string;
  let keys: string[];
  let env: Env;
  let server: WorkerServer;
  let stuck: Promise<{ code: unknown; shown: string; isDatabaseGone: boolean }>;
  const launched: WorkerServer[] = [];
  const journal = createJournal();

  before(async () => {
    folder = await mkdtemp('/tmp/sr-killed-');
    dataDir = join(folder, 'data');
    env = { STRONGROOM_DATA_DIR: dataDir, STRONGROOM_WORKERS: '2', STRONGROOM_RATE_LIMITS: 'off' };
    keys = await prepareFolder(dataDir);
    server = await launch(env);
    stuck = stopStuck();
    stuck.catch(() => {});
  });
  // Of a test that failed, or that ends it on purpose, nothing is left to the next.
  beforeEach(async () => {
    if (isRunning(server.pid) && [1, 2].every((slot) => isRunning(pidOf(slot)))) return;
    server.child.kill('SIGKILL');
    await server.ended;
    server = await launch(env);
  });
  after(async () => {
    await stuck?.catch(() => {});
    for (const each of launched) each.child.kill('SIGKILL');
    for (const each of launched) await each.ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  });

  async function launch(settings: Env): Promise<WorkerServer> {
    const started = await launchWorkers(folder, settings);
    launched.push(started);
    await started.ready();
    return started;
  }

  /** A worker that no longer runs cannot be asked to end. Takes twenty seconds, so it goes on beside the other tests. */
  async function stopStuck() {
    const other = join(folder, 'stuck');
    const held = await launch({ ...env, STRONGROOM_DATA_DIR: other });
    process.kill(held.workers().get(1) ?? 0, 'SIGSTOP');
    held.child.kill('SIGTERM');
    const code = await held.ended;
    const isDatabaseGone = (await findClusterProcesses(join(other, 'postgres'))).length === 0;
    return { code, shown: held.shown(), isDatabaseGone };
  }

  async function underLoad(act: (counted: Journal) => Promise<void>): Promise<void> {
    const load = startLoad(await server.ready(), keys, WRITERS_PER_KEY, journal);
    const target = journal.acknowledged.size + 100;
    try {
      await eventually('the load is under way', () => journal.acknowledged.size >= target);
      await act(journal);
    } finally {
      await load.stop();
    }
  }

  const pidOf = (slot: number): number => server.workers().get(slot) ?? assert.fail(`no worker ${slot}`);

  it('a worker killed under load: nothing acknowledged is lost, the other serves on, another takes its place at once', async () => {
    const killed = pidOf(1);
    await underLoad(async () => {
      const counted = (await server.scrape()).get(UPDATES) ?? 0;
      assert.ok(counted > 0);
      process.kill(killed, 'SIGKILL');
      const sofar = journal.acknowledged.size;
      await eventually('the other serves', () => journal.acknowledged.size > sofar + 50);
      await eventually('another takes its place', () => pidOf(1) !== killed);
      assert.ok(((await server.scrape()).get(UPDATES) ?? 0) >= counted, 'no counter goes back');
    });
    const [line] = server.lines(TAKES_PLACE);
    assert.deepEqual([line?.worker, line?.how, line?.pauseMs], [1, 'SIGKILL', 0]);
    await verify(dataDir, journal, 'a worker was killed');
  });

  it('SIGTERM to one worker under load: it ends cleanly and another takes its place', async () => {
    const asked = pidOf(2);
    await underLoad(async () => {
      process.kill(asked, 'SIGTERM');
      await eventually('another takes its place', () => pidOf(2) !== asked);
    });
    assert.equal(server.lines(TAKES_PLACE).at(-1)?.how, 'code 0');
    assert.equal(server.lines('stopping').at(-1)?.worker, 2);
    await verify(dataDir, journal, 'a worker was asked to end');
    const isReady = async () => (await createCaller(await server.ready())('GET', '/readyz')).status === 200;
    for (let asks = 0; asks < 4; asks += 1) await eventually('ready', isReady);
  });

  it('a worker killed while a connection is on its way to it: every client is answered or cut off, none hangs', async (t) => {
    const killed = pidOf(1);
    const address = await server.ready();
    process.kill(killed, 'SIGSTOP');
    t.after(() => isRunning(killed) && process.kill(killed, 'SIGKILL'));
    const statuses: number[] = [];
    const clients = Array.from({ length: 6 }, async () => {
      const connection = openConnection(address);
      statuses.push(await connection.send('GET', '/healthz'));
      connection.close();
    });
    await eventually('the other answers all but one', () => statuses.length === 5);
    process.kill(killed, 'SIGKILL');
    await eventually('nobody hangs', () => statuses.length === 6);
    await Promise.all(clients);
    assert.deepEqual(new Set(statuses), new Set([200, 0]));
    await eventually('another takes its place', () => pidOf(1) !== killed);
  });

  it('all workers killed at once: they come back on the same port', async () => {
    const address = await server.ready();
    const killed = [pidOf(1), pidOf(2)];
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    const isBack = () => createCaller(address)('GET', '/readyz').then(({ status }) => status === 200);
    await eventually('back', () => isBack().catch(() => false));
    await eventually('both', () => !killed.includes(pidOf(1)) && !killed.includes(pidOf(2)));
  });

  it('the keeper killed under load: workers and database end by themselves, and a restart works at once', async () => {
    const pids = [pidOf(1), pidOf(2)];
    await underLoad(async () => {
      server.child.kill('SIGKILL');
      await server.ended;
      await eventually('no worker outlives it', () => !pids.some(isRunning));
      assert.ok(journal.acknowledged.size > 0);
    });
    server = await launch(env);
    await verify(dataDir, journal, 'the keeper was killed');
  });

  it('69 for a port that is taken, said once', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const own = join(folder, 'taken');
    try {
      const refused = await launchWorkers(folder, { ...env, STRONGROOM_DATA_DIR: own, STRONGROOM_PORT: port });
      launched.push(refused);
      assert.equal(await refused.ended, 69);
      assert.equal(refused.shown().match(new RegExp(`Cannot listen on 127.0.0.1 port ${port}`, 'g'))?.length, 1);
    } finally {
      taken.close();
    }
    assert.deepEqual(await findClusterProcesses(join(own, 'postgres')), []);
  });

  it('a worker that cannot end is killed in time: the database is closed, and exit 1 says that it was not clean', async () => {
    const { code, shown, isDatabaseGone } = await stuck;
    assert.equal(code, 1);
    assert.doesNotMatch(shown, /could not stop cleanly in time/);
    assert.match(shown, /a worker did not end in time and is killed/);
    assert.ok(isDatabaseGone);
  });

  it('69 with the reason when workers cannot be brought back, and the database is stopped', async () => {
    const rootKey = join(dataDir, 'root.key');
    await rename(rootKey, `${rootKey}.away`);
    try {
      for (const slot of [1, 2]) process.kill(pidOf(slot), 'SIGKILL');
      assert.equal(await server.ended, 69);
    } finally {
      await rename(`${rootKey}.away`, rootKey);
    }
    const [line] = server.lines('the workers cannot be brought back');
    assert.match(String(line?.reason), /5 workers in a row ended before they listened, the last with code 78/);
    assert.match(String(line?.reason), /root key/);
    assert.doesNotMatch(server.shown(), /rk1_/);
    assert.deepEqual(await findClusterProcesses(join(dataDir, 'postgres')), []);
  });
});
