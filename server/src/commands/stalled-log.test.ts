// needs: processes

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../testing/eventually.js';
import { createCaller } from '../testing/http-client.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
/** Each is refused and so makes a line that is written at once; together they overfill any pipe. */
const REFUSED = 1_000;
/** After 28 s a stop gives up without being told. */
const BY_ITSELF_MS = 25_000;

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly call: ReturnType<typeof createCaller>;
}

async function start(t: TestContext): Promise<Running> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sr-log-'));
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH: process.env.PATH, STRONGROOM_PORT: '0', STRONGROOM_DATA_DIR: dataDir, STRONGROOM_RATE_LIMITS: 'off' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  });
  const address = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /"address":"([^"]+)".*"msg":"ready"/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`it ended with ${code} before it was ready: ${text}`)));
  });
  return { child, ended, call: createCaller(address) };
}

async function refuseMany({ call }: Running): Promise<void> {
  for (let sent = 0; sent < REFUSED; sent += 1) assert.equal((await call('GET', '/tenants/self')).status, 401);
}

describe('a log nobody reads', () => {
  it('401 as ever when the reader is gone, and SIGTERM ends the process with 0', async (t) => {
    const running = await start(t);
    running.child.stdout?.destroy();
    await refuseMany(running);
    running.child.kill('SIGTERM');
    assert.equal(await running.ended, 0);
  });

  it('401 as ever when the reader has stalled, and a second SIGTERM ends the process at once', async (t) => {
    const running = await start(t);
    running.child.stdout?.pause();
    await refuseMany(running);
    // Those within a second of the first are the same wish; the next one after that is not.
    const isOver = () => running.child.exitCode !== null || running.child.signalCode !== null;
    await eventually('nothing keeps it', () => isOver() || !running.child.kill('SIGTERM'), BY_ITSELF_MS);
  });
});
