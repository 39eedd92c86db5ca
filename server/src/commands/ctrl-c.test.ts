// needs: processes

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { unless } from '@strongroom/test-servers/find.js';
import { freePort } from '@strongroom/test-servers/programs.js';
import { generateApiKey } from '../access/api-key.js';
import { eventually, START_HANGS_MS } from '../testing/eventually.js';
import { createCaller } from '../testing/http-client.js';
import { CTRL_C, findTerminal } from '../testing/terminal.js';
import type { ChangeRequest, Env } from '../testing/worker-server.js';
import { holdChange, launchWorkers, operatorEnv } from '../testing/worker-server.js';

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const BETWEEN_SIGNALS_MS = 2;
/** So long is a second signal the wish of the first. */
const SAME_WISH_MS = 1_000;

const apiKey = generateApiKey('management').reveal();
const MAKING: ChangeRequest = {
  method: 'POST',
  path: '/applications',
  body: '{"name":"In flight","type":"management","permissions":["tenant:read"]}',
};

const terminal = findTerminal();

async function settings(t: TestContext): Promise<{ dataDir: string; metricsPort: number; env: Env }> {
  const folder = await mkdtemp(join(tmpdir(), 'sr-ctrl-c-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));
  const dataDir = join(folder, 'data');
  const metricsPort = await freePort();
  const env = {
    STRONGROOM_PORT: '0',
    STRONGROOM_METRICS_PORT: String(metricsPort),
    STRONGROOM_DATA_DIR: dataDir,
    STRONGROOM_BOOTSTRAP_API_KEY: apiKey,
  };
  return { dataDir, metricsPort, env };
}

/** A POST whose body is kept back, seen by the server. */
async function holdPost(address: string, metricsPort: number) {
  const held = holdChange(address, apiKey, {}, MAKING);
  const scrape = createCaller(`http://127.0.0.1:${metricsPort}`);
  await eventually('one request in flight', async () =>
    (await scrape('GET', '/metrics')).text.includes('\nstrongroom_http_bodies_waiting 1\n'),
  );
  return held;
}

async function refusesConnections(address: string): Promise<boolean> {
  return createCaller(address)('GET', '/healthz').then(
    () => false,
    () => true,
  );
}

describe('Ctrl-C', () => {
  for (const workers of ['1', '2']) {
    it(`201 for the POST in flight when Ctrl-C is typed at npm start with STRONGROOM_WORKERS=${workers}, then exit 0 and no database is left`, {
      skip: unless(terminal, 'terminal (script of util-linux, or python3)'),
    }, async (t) => {
      assert.ok(terminal);
      const { dataDir, metricsPort, env } = await settings(t);
      const child: ChildProcess = terminal('npm start', {
        cwd: CHECKOUT,
        env: operatorEnv({ ...env, STRONGROOM_WORKERS: workers }),
      });
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      t.after(async () => {
        child.kill('SIGKILL');
        await ended;
      });
      let shown = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        shown += chunk.toString();
      });
      const address = () => /"address":"(http:[^"]+)".*"msg":"ready"/.exec(shown)?.[1];
      const isReady = () => address() !== undefined || (child.exitCode !== null && assert.fail(shown));
      await eventually('ready', isReady, START_HANGS_MS);
      const base = address() ?? assert.fail(shown);
      const held = await holdPost(base, metricsPort);
      child.stdin?.write(CTRL_C);
      await eventually('stopping', () => shown.includes('"msg":"stopping"'));
      await eventually('no new connections', () => refusesConnections(base));
      held.finish();
      const outcome = { status: await held.status, exit: await ended };
      assert.deepEqual(outcome, { status: 201, exit: 0 }, `${JSON.stringify(outcome)}\n${shown}`);
      assert.match(shown, /"msg":"stopped"/);
      assert.ok(!existsSync(join(dataDir, 'postgres', 'postmaster.pid')));
    });
  }

  it('201 for the POST in flight when the signal comes twice within milliseconds, as npm passes it on', async (t) => {
    const { dataDir, metricsPort, env } = await settings(t);
    const server = await launchWorkers(join(dataDir, '..'), env);
    t.after(() => server.child.kill('SIGKILL'));
    const address = await server.ready();
    const held = await holdPost(address, metricsPort);
    server.child.kill('SIGINT');
    await pause(BETWEEN_SIGNALS_MS);
    server.child.kill('SIGINT');
    await eventually('no new connections', () => refusesConnections(address));
    held.finish();
    assert.equal(await held.status, 201, server.shown());
    assert.equal(await server.ended, 0, server.shown());
    assert.equal(server.lines('stopping').length, 1);
  });

  it('130 at once for a second signal that comes later than a second after the first, and no database is left', async (t) => {
    const { dataDir, metricsPort, env } = await settings(t);
    const server = await launchWorkers(join(dataDir, '..'), env);
    t.after(() => server.child.kill('SIGKILL'));
    const held = await holdPost(await server.ready(), metricsPort);
    const askedMs = performance.now();
    // Again and again: those within the second are the first one's wish, the next one after it is not.
    const isOver = () => server.child.exitCode !== null || server.child.signalCode !== null;
    await eventually('it gives up', () => isOver() || !server.child.kill('SIGINT'));
    assert.equal(await server.ended, 130, server.shown());
    assert.ok(performance.now() - askedMs >= SAME_WISH_MS);
    assert.equal(await held.status, 0);
    const isGone = () => !existsSync(join(dataDir, 'postgres', 'postmaster.pid'));
    await eventually('the end of the database', isGone);
  });
});
