// needs: processes

import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { exportLogs } from '../resources/logs/index.js';
import type { CommandSettings } from '../testing/command-runner.js';
import { runCommand, succeed, urlOf } from '../testing/command-runner.js';
import { insertManyLogs } from '../testing/held-backup.js';
import type { TestApp } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';
import { makeScratch } from '../testing/transfer.js';

interface Entry {
  readonly id: string;
  readonly message: string;
  readonly tenant_id: string;
}

describe('strongroom logs', () => {
  let app: TestApp;
  let settings: CommandSettings;
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  before(async () => {
    app = await startTestApp();
    scratch = await makeScratch();
    settings = { STRONGROOM_DATABASE_URL: urlOf(app.db.target), STRONGROOM_ROOT_KEY: rootKeyOf(app).reveal() };
  });
  after(async () => {
    await app.close();
    await scratch.remove();
  });

  // Each line is an object of our own making.
  const entriesIn = (text: string): Entry[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  const run = (...words: string[]) => runCommand(settings, 'logs', ...words);
  const remove = (key: string) => app.call('DELETE', '/tenants/self', { key });

  it('0 and every entry of a live tenant, oldest first with all details, the export itself among them', async () => {
    const tenant = await app.makeTenant();
    await insertManyLogs(app.db.owner, tenant.id, 2_500);
    const { stdout, stderr } = await succeed(settings, 'logs', 'export', '--tenant', tenant.id);
    const entries = entriesIn(stdout);
    assert.match(stderr, new RegExp(`Exported ${entries.length} entries`));
    assert.ok(entries.length > 2_500);
    assert.equal(new Set(entries.map(({ id }) => id)).size, entries.length);
    assert.ok(entries.every(({ tenant_id }) => tenant_id === tenant.id));
    const shown: Entry[] = (await app.call('GET', '/logs?size=1000&include=details', { key: tenant.key })).json.data;
    assert.deepEqual(entries.toReversed().slice(0, 1_000), shown);
    assert.deepEqual(
      shown.filter(({ message }) => message === 'Logs exported').map(({ id, ...entry }) => entry),
      [
        {
          tenant_id: tenant.id,
          entity_type: 'tenant',
          entity_id: tenant.id,
          operation: 'read',
          message: 'Logs exported',
          created_at: shown[0] && 'created_at' in shown[0] ? shown[0].created_at : '',
          outcome: 'success',
        },
      ],
    );
  });

  it('0 into a new file of the owner alone; 64 for one that is there, which stays as it is, and nothing is logged', async () => {
    const tenant = await app.makeTenant();
    const file = join(scratch.path, 'log.ndjson');
    const words = ['export', '--tenant', tenant.id, '--to', file];
    assert.equal((await run(...words)).code, 0);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const before = await readFile(file, 'utf8');
    assert.ok(entriesIn(before).length > 0);
    const again = await run(...words);
    assert.deepEqual([again.code, await readFile(file, 'utf8')], [64, before]);
    const { json } = await app.call('GET', '/logs', { key: tenant.key });
    assert.equal(json.data.filter(({ message }: Entry) => message === 'Logs exported').length, 1);
  });

  it('0 for a deleted tenant: its log is as it was, its key is 401, and only tenant list --deleted names it', async () => {
    const tenant = await app.makeTenant('A name to forget');
    const shown: Entry[] = (await app.call('GET', '/logs?include=details', { key: tenant.key })).json.data;
    assert.equal((await remove(tenant.key)).status, 204);
    for (const _ of [1, 2]) {
      const { stdout } = await succeed(settings, 'logs', 'export', '--tenant', tenant.id);
      assert.deepEqual(entriesIn(stdout).reverse(), shown);
    }
    assert.equal((await app.call('GET', '/logs', { key: tenant.key })).status, 401);
    const live = await succeed(settings, 'tenant', 'list');
    const deleted = await succeed(settings, 'tenant', 'list', '--deleted');
    assert.ok(!live.stdout.includes(tenant.id) && deleted.stdout.includes(tenant.id));
    assert.ok(!deleted.stdout.includes('A name to forget'));
    await succeed(settings, 'keys', 'verify');
    await succeed(settings, 'doctor');
  });

  it('0 from purge for a deleted tenant, with lines of the security log; 64 for a live one, whose log stays', async () => {
    const [doomed, living] = [await app.makeTenant(), await app.makeTenant()];
    await insertManyLogs(app.db.owner, doomed.id, 2_500);
    const refused = await run('purge', '--tenant', doomed.id);
    assert.equal(refused.code, 64);
    assert.match(refused.stderr, /lives/);
    assert.equal((await remove(doomed.key)).status, 204);
    const { stderr } = await succeed(settings, 'logs', 'purge', '--tenant', doomed.id);
    const [asked, done] = stderr.split('\n').map((line) => JSON.parse(line));
    assert.deepEqual([asked.stream, asked.event, asked.tenantId], ['security', 'logs_purge_asked', doomed.id]);
    assert.deepEqual([done.stream, done.event, done.tenantId], ['security', 'logs_purged', doomed.id]);
    assert.ok(done.entries > 2_500);
    const { rows } = await app.db.owner.query('SELECT FROM logs WHERE tenant_id = $1', [doomed.id]);
    assert.equal(rows.length, 0);
    assert.ok((await app.call('GET', '/logs', { key: living.key })).json.data.length > 0);
  });

  it('64 for an id that is no tenant, and for text', async () => {
    for (const id of [newId(), 'x', '']) {
      for (const word of ['export', 'purge']) assert.equal((await run(word, '--tenant', id)).code, 64, `${word} ${id}`);
    }
  });

  it('an export reads a page only when the one before is written, whatever the size of the log', async () => {
    const tenant = await app.makeTenant();
    await insertManyLogs(app.db.owner, tenant.id, 3_500);
    let ahead = 0;
    let pages = 0;
    const { database } = app;
    const count = await exportLogs({
      database: {
        ...database,
        read: (tenantId, work) => {
          ahead += 1;
          assert.equal(ahead, 1);
          return database.read(tenantId, work);
        },
      },
      tenantId: tenant.id,
      untilMs: systemClock.nowMs(),
      write: async (lines) => {
        await new Promise((resolve) => setImmediate(resolve));
        assert.ok(entriesIn(lines).length <= 1_000);
        ahead -= 1;
        pages += 1;
      },
      shouldStop: () => false,
    });
    assert.ok(count > 3_500 && pages === 4);
  });
});
