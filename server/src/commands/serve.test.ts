// needs: processes

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram, unless } from '@strongroom/test-servers/find.js';
import { generateApiKey } from '../access/api-key.js';
import { generateRootKey, parseRootKey } from '../crypto/root-key.js';
import { createCaller } from '../testing/http-client.js';
import { holdChange, isRunning } from '../testing/worker-server.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const DEADLINE_MS = 180_000;
const POLL_MS = 20;
const NO_CURL = unless(findProgram('curl'), 'curl');

type Env = Record<string, string>;

const launched: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = [];

/** One that a failed test has left would keep the data folder from those that follow. */
async function endAll(): Promise<void> {
  for (const { child, ended } of launched.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
}

async function until<T>(what: string, ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    assert.ok(performance.now() < deadlineMs, `${what} within ${DEADLINE_MS} ms`);
    await pause(POLL_MS);
  }
}

/** The product as an operator starts it. Its output goes to a file, where what was written first is there first. */
function launch(folder: string, env: Env) {
  const path = join(folder, `${performance.now()}.out`);
  const output = openSync(path, 'a');
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { ...Object.fromEntries(own), STRONGROOM_PORT: '0', ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  launched.push({ child, ended });
  const shown = (): string => readFileSync(path, 'utf8');
  const address = () => /"address":"([^"]+)".*"msg":"ready"/.exec(shown())?.[1];
  return {
    child,
    ended,
    shown,
    ready: () => until('ready', () => address() ?? (child.exitCode === null ? undefined : assert.fail(shown()))),
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Holds a port until it is freed, so that nobody else is given it. */
async function takePort(): Promise<{ port: number; free(): Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // A TCP listener has one.
  return { port, free: () => new Promise((resolve) => server.close(() => resolve())) };
}

async function pastedCurl(shown: string, env: Env = {}) {
  const [line] = /curl .*/.exec(shown) ?? assert.fail(shown);
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line], { env: { PATH: process.env.PATH, ...env } });
  return JSON.parse(stdout);
}

describe('serve', () => {
  const apiKey = generateApiKey('management').reveal();
  let folder: string;
  let main: Env;
  let rootKeyFile: string;
  let preset: { shown: string; code: number | null; tenantId: string; pasted: { id: string } | undefined };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-serve-'));
    main = { STRONGROOM_DATA_DIR: join(folder, 'main') };
    rootKeyFile = join(folder, 'main', 'root.key');
    const first = launch(folder, { ...main, STRONGROOM_BOOTSTRAP_API_KEY: apiKey });
    const address = await first.ready();
    const { json } = await createCaller(address)('GET', '/tenants/self', { key: apiKey });
    const shown = first.shown();
    const pasted = NO_CURL ? undefined : await pastedCurl(shown, { STRONGROOM_BOOTSTRAP_API_KEY: apiKey });
    preset = { shown, code: await first.stop(), tenantId: json.id, pasted };
  });
  afterEach(endAll);
  after(async () => {
    await endAll();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  });

  const postmasterFile = (): string => join(folder, 'main', 'postgres', 'postmaster.pid');
  const postmaster = async (): Promise<number> => Number((await readFile(postmasterFile(), 'utf8')).split('\n')[0]);

  /** Starts on the main folder and holds one change in flight, seen by the metrics. */
  async function launchBusy() {
    const metrics = await takePort();
    await metrics.free();
    const server = launch(folder, { ...main, STRONGROOM_METRICS_PORT: String(metrics.port) });
    const address = await server.ready();
    const held = holdChange(address, apiKey);
    const scrape = createCaller(`http://127.0.0.1:${metrics.port}`);
    const isHeld = async () =>
      (await scrape('GET', '/metrics')).text.includes('\nstrongroom_http_bodies_waiting 1\n') || undefined;
    await until('one request in flight', isHeld);
    return { server, address, held, scrape, postmasterPid: await postmaster() };
  }

  async function refusal(env: Env): Promise<{ code: number | null; shown: string }> {
    const server = launch(folder, env);
    return { code: await server.ended, shown: server.shown() };
  }

  it('first start: the key is shown before /readyz says 200, and the curl line works as pasted', async (t) => {
    const { port, free } = await takePort();
    await free();
    const call = createCaller(`http://127.0.0.1:${port}`);
    const env = { STRONGROOM_DATA_DIR: join(folder, 'first'), STRONGROOM_PORT: String(port) };
    const first = launch(folder, env);
    t.after(() => first.child.kill('SIGKILL'));
    const isReady = () => call('GET', '/readyz').catch(() => undefined);
    await until('/readyz', async () => ((await isReady())?.status === 200 ? true : undefined));
    const shown = first.shown();
    const [, tenantId] = /Tenant {4}([0-9a-f-]{36})/.exec(shown) ?? assert.fail(shown);
    const [key, ...copies] = new Set(shown.match(/key_mgt_[0-9A-Za-z]{32}/g));
    assert.equal(copies.length, 0);
    assert.equal((await call('GET', '/tenants/self', { key: key ?? '' })).json.id, tenantId);
    if (!NO_CURL) assert.equal((await pastedCurl(shown)).id, tenantId);
    assert.equal(await first.stop(), 0);
    const later = launch(folder, env);
    await later.ready();
    assert.equal(await later.stop(), 0);
    assert.doesNotMatch(later.shown(), /key_mgt_|Welcome/);
  });

  it('a first start that finds its port taken does not use up the key: the next start shows it', async () => {
    const { port, free } = await takePort();
    const env = { STRONGROOM_DATA_DIR: join(folder, 'unlucky') };
    const unlucky = await refusal({ ...env, STRONGROOM_PORT: String(port) });
    await free();
    assert.equal(unlucky.code, 69);
    const next = launch(folder, env);
    await next.ready();
    assert.equal(await next.stop(), 0);
    assert.match(`${unlucky.shown}${next.shown()}`, /key_mgt_/);
  });

  it('a preset key works and is not shown, and the curl line works where the variable is set', () => {
    assert.equal(preset.code, 0);
    assert.ok(preset.shown.includes('Welcome') && !preset.shown.includes(apiKey));
    assert.match(preset.tenantId, /^[0-9a-f-]{36}$/);
    if (!NO_CURL) assert.equal(preset.pasted?.id, preset.tenantId);
  });

  it('78 for a preset key that is malformed, without repeating it and before anything is made', async () => {
    const env = { STRONGROOM_DATA_DIR: join(folder, 'malformed'), STRONGROOM_BOOTSTRAP_API_KEY: `${apiKey}x` };
    const { code, shown } = await refusal(env);
    assert.equal(code, 78);
    assert.ok(shown.includes('STRONGROOM_BOOTSTRAP_API_KEY') && !shown.includes(apiKey), shown);
    assert.ok(!existsSync(env.STRONGROOM_DATA_DIR));
  });

  it('200 from the metrics listener on its own port, 404 on the port of the API', async () => {
    const { server, address, held, scrape } = await launchBusy();
    const { status, headers } = await scrape('GET', '/metrics');
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.equal((await createCaller(address)('GET', '/metrics')).status, 404);
    held.finish();
    assert.equal(await held.status, 200);
    assert.equal(await server.stop(), 0);
  });

  it('69 for a metrics port that is taken, naming the setting of that port', async () => {
    const { port, free } = await takePort();
    const { code, shown } = await refusal({ ...main, STRONGROOM_METRICS_PORT: String(port) });
    await free();
    assert.equal(code, 69);
    assert.ok(shown.includes(`port ${port} (EADDRINUSE)`), shown);
    assert.match(shown, /STRONGROOM_METRICS_PORT/);
  });

  it('SIGTERM: the request under way is finished, no new one is taken, exit 0, and the database is gone', async () => {
    const { server, address, held, postmasterPid } = await launchBusy();
    server.child.kill('SIGTERM');
    await until('stopping', () => server.shown().includes('"stopping"') || undefined);
    const isRefused = () =>
      createCaller(address)('GET', '/healthz').then(
        () => undefined,
        () => true,
      );
    await until('no new connections', isRefused);
    assert.equal(server.child.exitCode, null, 'it waits for the request');
    held.finish();
    assert.equal(await held.status, 200);
    assert.equal(await server.ended, 0);
    assert.ok(!isRunning(postmasterPid) && !existsSync(postmasterFile()));
    const again = launch(folder, main);
    const call = createCaller(await again.ready());
    assert.equal((await call('GET', '/tenants/self', { key: apiKey })).json.name, 'Finished');
    assert.equal(await again.stop(), 0);
  });

  it('SIGTERM again after more than a second: exit at once with 143, and the database does not outlive the process', async () => {
    const { server, held, postmasterPid } = await launchBusy();
    server.child.kill('SIGTERM');
    await until('stopping', () => server.shown().includes('"stopping"') || undefined);
    await until('the end', () => server.child.exitCode ?? (server.child.kill('SIGTERM') ? undefined : 0));
    assert.equal(await server.ended, 143);
    assert.equal(await held.status, 0);
    await until('the end of the database', () => (isRunning(postmasterPid) ? undefined : true));
  });

  describe('root key', () => {
    const idOf = async (): Promise<string> => parseRootKey(await readFile(rootKeyFile, 'utf8')).id;
    const assertRefused = async (env: Env, ...words: string[]): Promise<void> => {
      const { code, shown } = await refusal(env);
      assert.equal(code, 78, shown);
      for (const word of words) assert.ok(shown.includes(word), shown);
      assert.doesNotMatch(shown, /rk1_/);
      assert.ok(
        !existsSync(join(env.STRONGROOM_DATA_DIR ?? '', 'postgres', 'postmaster.pid')),
        'its database is stopped',
      );
    };

    /** Runs with the key file moved away, and puts it back. */
    const withoutFile = async (act: () => Promise<void>): Promise<void> => {
      await rename(rootKeyFile, `${rootKeyFile}.away`);
      await act().finally(() => rename(`${rootKeyFile}.away`, rootKeyFile));
    };

    it('78 for another key than the data was sealed by, naming both ids', async () => {
      const other = generateRootKey().reveal();
      const given = { ...main, STRONGROOM_ROOT_KEY: other };
      await assertRefused(given, await idOf(), parseRootKey(other).id);
    });

    it('78 for no key where there is data: the id it needs is named, and no new key is made', async () => {
      const sealedBy = await idOf();
      await withoutFile(async () => {
        await assertRefused(main, sealedBy);
        assert.ok(!existsSync(rootKeyFile));
      });
    });

    it('starts with the right key from the environment, without a file', async () => {
      const key = (await readFile(rootKeyFile, 'utf8')).trim();
      await withoutFile(async () => {
        const server = launch(folder, { ...main, STRONGROOM_ROOT_KEY: key });
        await server.ready();
        assert.equal(await server.stop(), 0);
        assert.ok(!server.shown().includes(key) && !existsSync(rootKeyFile));
      });
    });

    it('78 for a damaged key file', async () => {
      const key = await readFile(rootKeyFile, 'utf8');
      await withoutFile(async () => {
        await writeFile(rootKeyFile, key.slice(0, 30), { mode: 0o600 });
        await assertRefused(main, rootKeyFile).finally(() => rm(rootKeyFile));
      });
    });

    it('78 in production without a key on an empty folder: how to make one is said, none is made', async () => {
      const env = { STRONGROOM_DATA_DIR: join(folder, 'production'), STRONGROOM_ENV: 'production' };
      await assertRefused(env, 'strongroom root-key generate', 'STRONGROOM_ROOT_KEY_FILE');
      assert.ok(!existsSync(join(folder, 'production', 'root.key')));
    });

    it('78 in production with the key beside the data, or in a file open to others; elsewhere a warning', async () => {
      const production = { ...main, STRONGROOM_ENV: 'production' };
      await assertRefused(production, rootKeyFile);
      await chmod(rootKeyFile, 0o644);
      try {
        await assertRefused({ ...production, STRONGROOM_ROOT_KEY_FILE: rootKeyFile }, 'chmod 600');
        const server = launch(folder, main);
        await server.ready();
        assert.equal(await server.stop(), 0);
        assert.match(server.shown(), /"level":"warn".*open to other users/);
      } finally {
        await chmod(rootKeyFile, 0o600);
      }
    });
  });
});
