import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const PROBES = 20;

/** Each line parsed; a block of the log may hold several. */
function linesOf(app: TestApp): { level: string; msg: string; route?: string; err?: unknown }[] {
  return app.logLines.flatMap((block) =>
    block
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  );
}

const readinessLines = (app: TestApp) => linesOf(app).filter(({ msg }) => /ready|request/.test(msg));

describe('probes', () => {
  it('503 while the process is starting: the answer says so, and the log has no line of any probe', async () => {
    const app = await startTestApp({ isStarting: true });
    try {
      for (let asked = 0; asked < PROBES; asked += 1) {
        const { status, json, headers } = await app.call('GET', '/readyz');
        assert.deepEqual([status, json.code, headers.get('retry-after')], [503, 'storage_unavailable', '1']);
        assert.match(json.detail, /still starting/);
      }
      assert.equal((await app.call('GET', '/healthz')).status, 200);
      // Its line comes after those of the probes, if there were any.
      await app.call('GET', '/openapi.json');
      await eventually('the line of the last request', () => readinessLines(app).length > 0);
      assert.deepEqual(
        readinessLines(app).map(({ route }) => route),
        ['GET /openapi.json'],
      );
    } finally {
      await app.close();
    }
  });

  it('503 while the database is away: one line when it goes, one when it is back, however often it is asked', async () => {
    const app = await startTestApp();
    const { owner } = app.db;
    const { rows } = await owner.query('SELECT current_database() AS name');
    try {
      assert.equal((await app.call('GET', '/readyz')).status, 200);
      await owner.query(`ALTER DATABASE ${rows[0].name} CONNECTION LIMIT 0`);
      await owner.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'strongroom'`,
      );
      for (let asked = 0; asked < PROBES; asked += 1) {
        const { status, json } = await app.call('GET', '/readyz');
        assert.equal(status, 503);
        assert.match(json.detail, /database/);
      }
      // HEAD and the other spelling are the same probe.
      assert.equal((await app.call('HEAD', '/readyz/')).status, 503);
      assert.equal((await app.call('GET', '/healthz')).status, 200);
      await owner.query(`ALTER DATABASE ${rows[0].name} CONNECTION LIMIT -1`);
      await eventually('it is ready again', async () => (await app.call('GET', '/readyz')).status === 200);
      for (let asked = 0; asked < PROBES; asked += 1) await app.call('GET', '/readyz');
      await app.call('GET', '/openapi.json');
      await eventually('the line of the last request', () => readinessLines(app).some(({ msg }) => msg === 'request'));
      assert.deepEqual(
        readinessLines(app).map(({ level, msg }) => `${level} ${msg}`),
        ['warn not ready, the database does not answer', 'info ready again', 'info request'],
      );
      assert.ok(readinessLines(app)[0]?.err, 'the line has the inside story');
    } finally {
      await app.close();
    }
  });
});
