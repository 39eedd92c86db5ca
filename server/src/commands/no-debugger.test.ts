// needs: processes

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { succeed } from '../testing/command-runner.js';
import { createCaller } from '../testing/http-client.js';
import type { WorkerServer } from '../testing/worker-server.js';
import { isRunning, launchWorkers } from '../testing/worker-server.js';

const DEBUGGER = /Debugger listening/;

/** An ordinary Node process that is sent the signal, as proof that it opens a debugger and has had the time to. */
async function openOneElsewhere(): Promise<void> {
  const script = 'process.stdout.write("up"); setInterval(() => {}, 1000)';
  const other = spawn(process.execPath, ['--inspect-port=127.0.0.1:0', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await once(other.stdout, 'data');
  other.kill('SIGUSR1');
  const [shown] = await once(other.stderr, 'data');
  other.kill('SIGKILL');
  assert.match(String(shown), DEBUGGER);
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

describe('the debugger of Node', () => {
  let folder: string;
  let server: WorkerServer;
  before(async () => {
    folder = await mkdtemp('/tmp/sr-debugger-');
    server = await launchWorkers(folder, { STRONGROOM_DATA_DIR: join(folder, 'data'), STRONGROOM_WORKERS: '2' });
    await server.ready();
  });
  after(async () => {
    server?.child.kill('SIGKILL');
    await server?.ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  });

  it('stays closed on SIGUSR1 to keeper and workers, and all of them serve on', async () => {
    const address = await server.ready();
    const workers = [...server.workers().values()];
    assert.equal(workers.length, 2);
    const wasTaken = await isTaken(9_229);
    for (const pid of [server.pid, ...workers]) process.kill(pid, 'SIGUSR1');
    await openOneElsewhere();
    assert.doesNotMatch(server.shown(), DEBUGGER);
    assert.equal(await isTaken(9_229), wasTaken);
    assert.deepEqual([...server.workers().values()], workers);
    assert.ok(workers.every(isRunning));
    assert.equal((await createCaller(address)('GET', '/readyz')).status, 200);
  });

  it('is closed again where NODE_OPTIONS opened it, and the command says so and goes on', async () => {
    const { stdout, stderr } = await succeed({ NODE_OPTIONS: '--inspect=127.0.0.1:0' }, 'key', 'generate');
    assert.match(stdout, /^key_mgt_/);
    assert.match(stderr, /The debugger was open and is closed/);
  });
});
