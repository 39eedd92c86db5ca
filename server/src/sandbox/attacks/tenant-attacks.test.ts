import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findEngine } from '@strongroom/engine/paths.js';
import { systemClock } from '../../kernel/clock.js';
import { EngineInstance } from '../engine/instance.js';
import { prepareRun } from '../engine/prepared-run.js';
import type { AnswerEngine, CodeVersion, RunOutcome } from '../run.js';
import { PLAIN_INPUT } from '../run-fixture.js';
import type { Wall } from '../wall/wall.js';
import { makeWall } from '../wall/wall.js';
import type { TenantBait, TenantProbe } from './tenant-probes-fixture.js';
import { tenantProbes } from './tenant-probes-fixture.js';

const AT_ONCE = 3;
const RUN_MS = 20_000;
const SECRET = 'SECRET-OF-THE-VAULT';
/** What code must not have seen, whatever way it got there. */
const SEEN = new RegExp(`${SECRET}|root:x:0|CANARY|uid=\\d|victim`);
const modes = process.getuid?.() === 0 ? (['root', 'flat'] as const) : (['user', 'flat'] as const);

describe('code that tries to get out', { skip: findEngine() ? false : 'the engine does not run here' }, () => {
  let folder: string;
  let bait: TenantBait;
  let servers: Server[];
  const hits: string[] = [];
  before(async () => {
    process.env.VAULT_SECRET = SECRET;
    folder = await mkdtemp(join(tmpdir(), 'strongroom-attacks-'));
    const secretFile = join(folder, 'secret');
    await writeFile(secretFile, SECRET);
    const socketPath = join(folder, 'bait.sock');
    const tcp = await listening(hits);
    servers = [tcp, await listening(hits, socketPath)];
    const { port } = tcp.address() as AddressInfo;
    bait = { port, socketPath, secretFile, planted: join(folder, 'planted'), apiPid: process.pid };
  });
  after(async () => {
    delete process.env.VAULT_SECRET;
    for (const server of servers) server.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const mode of modes) {
    it(`sees nothing, writes nothing and reaches nobody, behind the wall ${mode}`, async (t) => {
      const wall = await makeWall({ abilities: { mode } }).catch((error: Error) => error.message);
      if (typeof wall === 'string') return t.skip(wall);
      t.after(() => wall.remove());
      const escapes: string[] = [];
      let ran = 0;
      await inParallel(tenantProbes(bait), async (probe) => {
        const outcome = await runProbe(wall, probe);
        const text = JSON.stringify(outcome);
        if (SEEN.test(text)) escapes.push(`${probe.name}: ${text.slice(0, 200)}`);
        ran += 1;
      });
      assert.deepEqual(escapes, []);
      assert.deepEqual(hits, []);
      assert.equal(existsSync(bait.planted), false, 'a file was written');
      assert.ok(ran > 90, `${ran} probes`);
    });
  }
});

const asked: AnswerEngine = async ({ code: { applicationId } }, { to, url }) => {
  const body = Buffer.from(JSON.stringify({ answeredAs: applicationId, to, path: new URL(url).pathname }));
  return { status: 403, headers: [['content-type', 'application/json']], body };
};

async function runProbe(wall: Wall, { name, code }: TenantProbe): Promise<RunOutcome> {
  const version: CodeVersion = { tenantId: 't', ownerId: name, version: '1', code, applicationId: 'attacker' };
  const instance = new EngineInstance(wall, systemClock);
  await instance.start();
  try {
    await instance.load(version, { aliases: {}, answer: asked });
    const input = prepareRun({ ...PLAIN_INPUT, keepsConsole: true }, ['client']);
    return await instance.run(input, { deadlineMs: RUN_MS });
  } finally {
    instance.kill();
    await instance.ended;
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

function listening(hits: string[], path?: string): Promise<Server> {
  const server = createServer((request, response) => {
    hits.push(String(request.url));
    response.end('CANARY');
  });
  server.on('connection', () => hits.push('a connection'));
  return new Promise((resolve) => {
    if (path === undefined) server.listen(0, '127.0.0.1', () => resolve(server));
    else server.listen(path, () => resolve(server));
  });
}
