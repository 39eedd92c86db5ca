// needs: processes

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { applicationTypeOfKey, isWellFormedApiKey } from '../access/api-key.js';
import { parseRootKey } from '../crypto/root-key.js';
import { START_HANGS_MS } from '../testing/eventually.js';
import { createCaller } from '../testing/http-client.js';
import { VERSION } from '../version.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const UUID = /^[0-9a-f-]{36}$/;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function launch(words: readonly string[], env: Record<string, string>): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
  return spawn(process.execPath, [MAIN, ...words], { env: { ...Object.fromEntries(own), ...env } });
}

async function run(words: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = launch(words, env);
  assert.ok(child.stdout && child.stderr);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout: stdout.trim(), stderr: stderr.trim() };
}

/** Runs the API on a free port; gives its address once it is ready. */
async function serve(env: Record<string, string>) {
  const child = launch(['serve'], { STRONGROOM_PORT: '0', ...env });
  let output = '';
  const address = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready: ${output}`)), START_HANGS_MS);
    child.stdout?.on('data', (chunk) => {
      output += String(chunk);
      const [, found] = /"address":"([^"]+)".*"msg":"ready"/.exec(output) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { child, address, call: createCaller(address), stop };
}

describe('the command line without a database', () => {
  it('0 and the list of commands for help, 0 and the version for version', async () => {
    const [help, short, word, version] = await Promise.all(
      [['--help'], ['-h'], ['help'], ['--version']].map((words) => run(words)),
    );
    assert.equal(help?.code, 0);
    for (const name of ['serve', 'tenant create', 'tenant list', 'application create', 'root-key generate', 'doctor']) {
      assert.ok(help.stdout.includes(`  ${name} `), name);
    }
    assert.deepEqual([short, word], [help, help]);
    assert.deepEqual(version, { code: 0, stdout: VERSION, stderr: '' });
  });

  it('0 and the flags of one command for its help', async () => {
    const { code, stdout } = await run(['application', 'create', '--help']);
    assert.equal(code, 0);
    for (const flag of ['--tenant', '--type', '--permission', '--name', '--json'])
      assert.ok(stdout.includes(flag), flag);
  });

  it('64 with help on standard error, and nothing on standard output, for what cannot be understood', async () => {
    const misuses: Record<string, string[]> = {
      'unknown command: dance': ['dance'],
      'no command given': [],
      'choose one of these:': ['tenant'],
      'missing --name': ['tenant', 'create'],
      'missing --tenant, --type, --permission': ['application', 'create'],
      "Unknown option '--loud'": ['tenant', 'list', '--loud'],
      "Unexpected argument 'extra'": ['key', 'generate', 'extra'],
    };
    const results = await Promise.all(Object.values(misuses).map((words) => run(words)));
    Object.keys(misuses).forEach((sentence, index) => {
      const { code, stdout, stderr } = results[index] ?? assert.fail();
      assert.equal(code, 64, sentence);
      assert.equal(stdout, '');
      assert.ok(stderr.startsWith(`strongroom: ${sentence}`) && stderr.includes('Usage: strongroom'), stderr);
    });
  });

  it('0 and one well-formed key a call for key generate, of the type asked for', async () => {
    const types = ['management', 'private', 'public'] as const;
    const [plain, ...typed] = await Promise.all([
      run(['key', 'generate']),
      ...types.map((type) => run(['key', 'generate', '--type', type])),
    ]);
    assert.equal(applicationTypeOfKey(plain.stdout), 'management');
    assert.deepEqual(
      typed.map(({ stdout }) => applicationTypeOfKey(stdout)),
      types,
    );
    for (const { code, stdout } of [plain, ...typed]) assert.ok(code === 0 && isWellFormedApiKey(stdout), stdout);
    assert.notEqual(plain.stdout, typed[0]?.stdout);
    const { code, stderr } = await run(['key', 'generate', '--type', 'admin']);
    assert.equal(code, 64);
    assert.match(stderr, /public, private, management/);
  });

  it('0 and a new root key each time for root-key generate', async () => {
    const [first, second] = await Promise.all([run(['root-key', 'generate']), run(['root-key', 'generate'])]);
    assert.notEqual(parseRootKey(first.stdout).id, parseRootKey(second.stdout).id);
    assert.deepEqual([first.code, second.code], [0, 0]);
  });
});

describe('the command line on a data folder', () => {
  let folder: string;
  let env: Record<string, string>;
  /** Results of commands that ran before there was a server. */
  let alone: Record<'migrated' | 'tenant' | 'application' | 'doctor', Ended>;
  let server: Awaited<ReturnType<typeof serve>>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-cli-'));
    env = { STRONGROOM_DATA_DIR: join(folder, 'data') };
    const migrated = await run(['migrate'], env);
    const tenant = await run(['tenant', 'create', '--name', 'Made alone'], env);
    const application = await create(tenant.stdout, 'management', 'tenant:read');
    alone = { migrated, tenant, application, doctor: await run(['doctor'], env) };
    server = await serve(env);
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
    await rm(folder, { recursive: true, force: true });
  });

  const create = (tenant: string, type: string, permission: string, ...more: string[]) =>
    run(['application', 'create', '--tenant', tenant, '--type', type, '--permission', permission, ...more], env);

  it('0 with what was applied to an empty folder, 0 with nothing to do afterwards', async () => {
    assert.deepEqual([alone.migrated.code, alone.migrated.stdout], [0, '']);
    assert.match(alone.migrated.stderr, /^Applied: /);
    assert.deepEqual(await run(['migrate'], env), { code: 0, stdout: '', stderr: 'The schema is up to date.' });
  });

  it('0 and the key alone on standard output, once, when an Application is made without a server', async () => {
    const { code, stdout: key, stderr } = alone.application;
    assert.equal(code, 0);
    assert.ok(isWellFormedApiKey(key), key);
    assert.ok(!stderr.includes(key), 'people read the key where programs read it, not twice');
    const { status, json } = await server.call('GET', '/tenants/self', { key });
    assert.deepEqual([status, json.id, json.name], [200, alone.tenant.stdout, 'Made alone']);
  });

  it('0 and a key that works at once, as JSON, when an Application is made beside a running server', async () => {
    const { code, stdout } = await create(alone.tenant.stdout, 'management', 'log:read', '--json');
    const { id, key } = JSON.parse(stdout);
    assert.equal(code, 0);
    assert.match(id, UUID);
    const { json } = await server.call('GET', '/logs', { key });
    assert.deepEqual([json.data[0].entity_type, json.data[0].entity_id], ['application', id]);
  });

  it('0 and every tenant, as text and as JSON lines', async () => {
    const owner = JSON.parse((await run(['tenant', 'list', '--json'], env)).stdout).owner_id;
    const second = await run(['tenant', 'create', '--name', 'Second \u00fc', '--owner', owner], env);
    const [text, json] = await Promise.all([run(['tenant', 'list'], env), run(['tenant', 'list', '--json'], env)]);
    const rows = json.stdout.split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(
      rows.map(({ id, owner_id, name }) => [id, owner_id, name]),
      [
        [alone.tenant.stdout, owner, 'Made alone'],
        [second.stdout, owner, 'Second \u00fc'],
      ],
    );
    for (const { id, name, created_at } of rows) assert.ok(text.stdout.includes(`${id}  ${created_at}  ${name}`));
  });

  it('64 that names the flag, and nothing is made, for values that are no good', async () => {
    const { stdout: tenantId } = alone.tenant;
    const before = await run(['tenant', 'list'], env);
    const refusals = await Promise.all([
      run(['tenant', 'create', '--name', '  '], env),
      run(['tenant', 'create', '--name', 'x', '--owner', tenantId], env),
      create(tenantId, 'management', 'token:read'),
      create(tenantId, 'management', 'dance:read'),
      create('4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10', 'public', 'token:create'),
    ]);
    const sentences = [
      /name: must be 1 to 200/,
      /owner: is not the id of a user/,
      /token:read cannot be held by a management/,
      /dance:read is not a permission/,
      /tenant: is not the id of a Tenant/,
    ];
    refusals.forEach(({ code, stdout, stderr }, index) => {
      assert.match(stderr, sentences[index] ?? /never/);
      assert.deepEqual([code, stdout], [64, '']);
    });
    assert.deepEqual(await run(['tenant', 'list'], env), before);
  });

  it('0 from doctor, with or without a server: the id of the root key, and a warning where the key lies', async () => {
    const beside = await run(['doctor'], { ...env, STRONGROOM_PROT: '1' });
    for (const { code, stdout } of [alone.doctor, beside]) {
      assert.equal(code, 0);
      assert.match(stdout, /^ok {7}settings: usable/m);
      assert.match(stdout, /^ok {7}database: .*the schema fits/m);
      assert.match(stdout, /^ok {7}root key: rk-[0-9a-f]{12} opens this database$/m);
      assert.match(stdout, /^warning .*root\.key/m);
      assert.doesNotMatch(stdout, /rk1_/);
    }
    assert.match(beside.stdout, /not known and ignored: STRONGROOM_PROT/);
  });

  it('0 from doctor on a folder without a database, and it stays without one', async () => {
    const dataDir = join(folder, 'nothing-yet');
    const { code, stdout } = await run(['doctor'], { STRONGROOM_DATA_DIR: dataDir });
    assert.equal(code, 0);
    assert.match(stdout, /^ok {7}database: none in /m);
    assert.ok(!existsSync(dataDir));
  });

  it('78 from doctor for bad settings, every one of them', async () => {
    const { code, stdout } = await run(['doctor'], { ...env, STRONGROOM_PORT: 'x', STRONGROOM_AUDIT: 'y' });
    assert.equal(code, 78);
    assert.match(stdout, /^FAULT {4}settings: [\s\S]*STRONGROOM_PORT[\s\S]*STRONGROOM_AUDIT/);
  });

  it('69 from doctor for a database that cannot be reached, without its password', async () => {
    const unreachable = { STRONGROOM_DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d' };
    const { code, stdout, stderr } = await run(['doctor'], unreachable);
    assert.ok(!`${stdout}${stderr}`.includes('hunter2'));
    assert.match(stdout, /does not answer/);
    assert.equal(code, 69);
  });

  it('73 for a second server on the folder, naming who has it, and the first goes on', async () => {
    const second = await run(['serve'], { ...env, STRONGROOM_PORT: '0' });
    assert.equal(second.code, 73);
    assert.ok(second.stderr.includes(`process ${server.child.pid} (strongroom serve`), second.stderr);
    assert.equal((await server.call('GET', '/readyz')).status, 200);
  });

  it('69 for a port that is taken: what to set is said, and the database of the latecomer is stopped again', async () => {
    const { port } = new URL(server.address);
    const dataDir = join(folder, 'other');
    const { code, stderr } = await run(['serve'], { STRONGROOM_DATA_DIR: dataDir, STRONGROOM_PORT: port });
    assert.equal(code, 69);
    assert.ok(stderr.includes(`Cannot listen on 127.0.0.1 port ${port} (EADDRINUSE)`), stderr);
    assert.ok(stderr.includes('STRONGROOM_PORT'));
    assert.ok(!(await readdir(join(dataDir, 'postgres'))).includes('postmaster.pid'));
    assert.equal((await server.call('GET', '/readyz')).status, 200);
  });
});
