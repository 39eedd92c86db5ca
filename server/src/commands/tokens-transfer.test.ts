// needs: processes

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../testing/eventually.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';
import { ALL_OF_TOKENS, logCounts, makeMany, makeScratch } from '../testing/transfer.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const TOKENS = 5_000;
/** Enough for a process to be killed in the middle of. */
const FEWER = 2_000;
const CANARY = 'canary of the command line';
/** What the process weighs with nothing to do, and room for batches; far less than the tokens together with their copies. */
const MEMORY_MAX_MIB = 400;
const PASSPHRASE = 'six random words are rather good';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function launch(app: TestApp | undefined, words: readonly string[]): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
  return spawn(process.execPath, [`--max-old-space-size=${MEMORY_MAX_MIB / 4}`, MAIN, ...words], {
    env: { ...Object.fromEntries(own), ...(app && settingsOf(app)) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function settingsOf(app: TestApp): Record<string, string> {
  const { target } = app.db;
  if (!('socketDir' in target)) throw new Error('tests reach their server through its socket');
  const { user, port, database, socketDir } = target;
  return {
    STRONGROOM_DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(socketDir)}`,
    STRONGROOM_ROOT_KEY: rootKeyOf(app).reveal(),
  };
}

async function ending(child: ChildProcess): Promise<Ended> {
  assert.ok(child.stdout && child.stderr);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout: stdout.trim(), stderr: stderr.trim() };
}

const run = (app: TestApp | undefined, ...words: string[]) => ending(launch(app, words));

async function memoryPeakMib(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
}

const segmentsIn = (folder: string): number => {
  try {
    return readdirSync(folder).filter((name) => /^segment-\d+\.sealed$/.test(name)).length;
  } catch {
    return 0;
  }
};

describe('tokens export and import on the command line, beside a running server', () => {
  let app: TestApp;
  let elsewhere: TestApp;
  let tenant: TestTenant;
  let smaller: TestTenant;
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let path: (name: string) => string;
  let recipient: string;
  before(async () => {
    scratch = await makeScratch();
    path = (name) => join(scratch.path, name);
    [app, elsewhere] = [await startTestApp(), await startTestApp()];
    tenant = await app.makeTenant();
    await makeMany(app, await app.makeKey(tenant.id, 'private', ALL_OF_TOKENS), TOKENS, CANARY);
    smaller = await app.makeTenant();
    await makeMany(app, await app.makeKey(smaller.id, 'private', ALL_OF_TOKENS), FEWER);
    await writeFile(path('passphrase'), `${PASSPHRASE}\n`, { mode: 0o600 });
    recipient = (await run(undefined, 'export-key', 'generate', '--out', path('identity'))).stdout;
  });
  after(async () => {
    await app.close();
    await elsewhere.close();
    await scratch.remove();
  });

  const exporting = (out: string, ...more: string[]) => [
    'tokens',
    'export',
    '--tenant',
    tenant.id,
    '--out',
    out,
    ...more,
  ];
  const exportingFewer = (out: string, ...more: string[]) => [...exporting(out, ...more), '--tenant', smaller.id];
  const importing = (into: TestTenant, from: string, ...more: string[]) => [
    'tokens',
    'import',
    '--tenant',
    into.id,
    '--in',
    from,
    ...more,
  ];
  const countIn = async (into: TestApp, { id }: TestTenant): Promise<number> => {
    const { rows } = await into.db.owner.query<{ count: string }>('SELECT count(*) FROM tokens WHERE tenant_id = $1', [
      id,
    ]);
    return Number(rows[0]?.count);
  };
  const dataIn = async (into: TestApp, { id }: TestTenant): Promise<Set<string>> => {
    const key = await into.makeKey(id, 'private', ALL_OF_TOKENS, [
      { priority: 1, container: '/', transform: 'reveal', permissions: ALL_OF_TOKENS },
    ]);
    const seen = new Set<string>();
    for (let start = ''; ; ) {
      const { json } = await into.call('GET', `/v2/tokens?size=100${start}`, { key });
      for (const { data } of json.data) seen.add(data);
      if (!json.pagination.after) return seen;
      start = `&start=${json.pagination.after}`;
    }
  };

  it('0 and a key pair: the public half printed, the private half in a file of its owner, never replaced', async () => {
    assert.match(recipient, /^exportpub1_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/);
    assert.equal((await stat(path('identity'))).mode & 0o777, 0o600);
    const before = await readFile(path('identity'), 'utf8');
    assert.match(before, /^exportkey1_/);
    const again = await run(undefined, 'export-key', 'generate', '--out', path('identity'));
    assert.deepEqual([again.code, again.stdout], [64, '']);
    assert.equal(await readFile(path('identity'), 'utf8'), before);
    assert.ok(!again.stderr.includes(before.slice(11, 25)));
  });

  it(`0 for ${TOKENS} tokens there and into another installation, in bounded memory, without a word of them`, async () => {
    const out = path('whole');
    let peak = 0;
    const watched = async (child: ChildProcess): Promise<Ended> => {
      const timer = setInterval(() => void memoryPeakMib(child).then((mib) => (peak = Math.max(peak, mib))), 20);
      const ended = await ending(child);
      clearInterval(timer);
      return ended;
    };
    const written = await watched(launch(app, exporting(out, '--recipient', recipient)));
    assert.equal(written.code, 0, written.stderr);
    assert.equal(written.stdout, `Exported ${TOKENS} tokens in 3 segments: ${out}`);
    assert.match(written.stderr, new RegExp(`"Token retrieved" for every token of this run: ${TOKENS}`));
    const logged = await logCounts(app, tenant.id, 'Token retrieved');
    assert.deepEqual([logged.size, new Set(logged.values())], [TOKENS, new Set([1])]);
    const target = await elsewhere.makeTenant();
    const read = await watched(launch(elsewhere, importing(target, out, '--identity', path('identity'))));
    assert.deepEqual([read.code, read.stdout], [0, `Imported ${TOKENS} of ${TOKENS} tokens.`], read.stderr);
    assert.ok(peak > 0 && peak < MEMORY_MAX_MIB, `peak of ${peak} MiB`);
    assert.ok(![written, read].some(({ stdout, stderr }) => `${stdout}${stderr}`.includes(CANARY)));
    const data = await dataIn(elsewhere, target);
    assert.equal(data.size, TOKENS);
    const again = await run(elsewhere, ...importing(target, out, '--identity', path('identity')));
    assert.deepEqual([again.code, await present(again)], [0, TOKENS]);
  });

  it('137 when killed in the middle of an export, 0 when resumed: every token is there, none logged twice but what was under way', async () => {
    const out = path('killed');
    const earlier = await logCounts(app, smaller.id, 'Token retrieved');
    const flags = ['--passphrase-file', path('passphrase'), '--segment-tokens', '100'];
    const child = launch(app, exportingFewer(out, ...flags));
    const ended = ending(child);
    await eventually('some segments are written', () => segmentsIn(out) >= 3);
    child.kill('SIGKILL');
    assert.equal((await ended).code, null);
    const done = segmentsIn(out);
    assert.ok(done < FEWER / 100, 'it was killed in the middle');
    const refused = await run(app, ...exportingFewer(out, ...flags));
    assert.equal(refused.code, 64);
    await writeFile(path('other'), 'another passphrase altogether', { mode: 0o600 });
    const other = await run(app, ...exportingFewer(out, '--resume', '--passphrase-file', path('other')));
    assert.deepEqual([other.code, /another passphrase/.test(other.stderr)], [64, true], other.stderr);
    const resumed = await run(app, ...exportingFewer(out, '--resume', ...flags));
    assert.deepEqual([resumed.code, resumed.stdout], [0, `Exported ${FEWER} tokens in 20 segments: ${out}`]);
    const logged = await logCounts(app, smaller.id, 'Token retrieved');
    const repeated = [...logged].filter(([id, count]) => count - (earlier.get(id) ?? 0) !== 1);
    assert.ok(repeated.length <= 200, `${repeated.length} entries more`);
    assert.ok(repeated.every(([id, count]) => count - (earlier.get(id) ?? 0) === 2));
    const target = await elsewhere.makeTenant();
    const read = await run(elsewhere, ...importing(target, out, '--passphrase-file', path('passphrase')));
    assert.equal(read.stdout, `Imported ${FEWER} of ${FEWER} tokens.`);
    assert.equal((await dataIn(elsewhere, target)).size, FEWER);
  });

  it('130 on Ctrl-C in an export, and --resume repeats no entry of the log', async () => {
    const out = path('stopped');
    const earlier = await logCounts(app, smaller.id, 'Token retrieved');
    const child = launch(app, exportingFewer(out, '--recipient', recipient, '--segment-tokens', '100'));
    const ended = ending(child);
    await eventually('some segments are written', () => segmentsIn(out) >= 2);
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    assert.deepEqual([code, /--resume/.test(stderr)], [130, true], stderr);
    assert.equal((await run(app, ...exportingFewer(out, '--resume', '--recipient', recipient))).code, 0);
    const logged = await logCounts(app, smaller.id, 'Token retrieved');
    assert.ok([...logged].every(([id, count]) => count - (earlier.get(id) ?? 0) === 1));
  });

  it('137 when killed in the middle of an import, 0 when run again: counters, log and tokens are exact', async () => {
    const target = await elsewhere.makeTenant();
    const words = importing(target, path('killed'), '--passphrase-file', path('passphrase'));
    const child = launch(elsewhere, words);
    const ended = ending(child);
    await eventually('some tokens are there', async () => (await countIn(elsewhere, target)) >= 300);
    child.kill('SIGKILL');
    assert.equal((await ended).code, null);
    const there = await countIn(elsewhere, target);
    assert.ok(there < FEWER, 'it was killed in the middle');
    const again = await run(elsewhere, ...words);
    const left = FEWER - (await present(again));
    assert.deepEqual([again.code, again.stdout], [0, `Imported ${left} of ${FEWER} tokens.`]);
    const logged = await logCounts(elsewhere, target.id, 'Token created');
    assert.deepEqual([logged.size, new Set(logged.values())], [FEWER, new Set([1])]);
    const { json } = await elsewhere.call('GET', '/tenants/self/reports/usage', { key: target.key });
    assert.equal(json.token_report.metrics_by_type.token.count, FEWER);
    assert.equal(json.token_report.monthly_active_tokens, FEWER);
  });

  it('64 with the ids, fit for a terminal, when other tokens have them, and nothing is imported', async () => {
    const [one, two] = [await app.makeTenant(), await app.makeTenant()];
    const id = 'bell \u0007 and \u202e turn';
    for (const { id: tenantId } of [one, two]) {
      const key = await app.makeKey(tenantId, 'private', ALL_OF_TOKENS);
      assert.equal((await app.call('POST', '/tokens', { key, body: { id, data: tenantId } })).status, 201);
    }
    const out = path('conflict');
    await run(app, 'tokens', 'export', '--tenant', one.id, '--out', out, '--recipient', recipient);
    const words = importing(two, out, '--identity', path('identity'));
    const refused = await run(app, ...words);
    assert.deepEqual([refused.code, refused.stdout], [64, '']);
    assert.ok(refused.stderr.includes('bell \\u{7} and \\u{202e} turn'), refused.stderr);
    const skipped = await run(app, ...words, '--on-conflict', 'skip');
    assert.deepEqual([skipped.code, skipped.stdout], [0, 'Imported 0 of 1 tokens.']);
    assert.match(skipped.stderr, /1 left out: another token has the id/);
  });

  it('64 that says what to do for flags that do not fit, and nothing is made', async () => {
    await writeFile(path('short'), 'too short', { mode: 0o600 });
    const out = path('never');
    const cases: readonly (readonly [string[], RegExp])[] = [
      [exporting(out), /either --passphrase-file or --recipient/],
      [exporting(out, '--recipient', recipient, '--passphrase-file', path('passphrase')), /either --passphrase-file/],
      [exporting(out, '--passphrase-file', path('short')), /at least 12 characters/],
      [exporting(out, '--passphrase-file', path('nowhere')), /cannot be read \(ENOENT\)/],
      [exporting(out, '--recipient', path('identity')), /private half/],
      [exporting(out, '--recipient', 'nonsense'), /begins with exportpub1_/],
      [exporting(out, '--recipient', recipient, '--segment-tokens', '0'), /from 1 to/],
      [exporting(out, '--recipient', recipient, '--resume'), /nothing to resume/],
      [importing(tenant, path('whole'), '--passphrase-file', path('passphrase')), /sealed to a public key/],
      [importing(tenant, path('killed'), '--passphrase-file', path('other')), /another key.*Check passphrase/],
      [importing(tenant, out, '--identity', path('identity')), /no manifest\.sealed/],
      [importing(tenant, path('whole'), '--identity', path('identity'), '--on-conflict', 'dance'), /fail or skip/],
      [['tokens', 'export', '--tenant', 'x', '--out', out, '--recipient', recipient], /not the id of a Tenant/],
    ];
    for (const [words, sentence] of cases) {
      const { code, stdout, stderr } = await run(app, ...words);
      assert.deepEqual([code, stdout], [64, ''], words.join(' '));
      assert.match(stderr, sentence);
      assert.ok(!stderr.includes('too short') && !stderr.includes(PASSPHRASE));
    }
    assert.equal(segmentsIn(out), 0);
  });
});

async function present({ stderr }: Ended): Promise<number> {
  return Number(/(\d+) were there already/.exec(stderr)?.[1] ?? 0);
}
