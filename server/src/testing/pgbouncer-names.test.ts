// needs: PostgreSQL packages, pgbouncer

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import type { PgBouncer } from '@strongroom/test-servers/pgbouncer.js';
import { startPgBouncer } from '@strongroom/test-servers/pgbouncer.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import type { TcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { startTcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { generateRootKey } from '../crypto/root-key.js';
import { eventually } from './eventually.js';
import { databaseOn, startMigratedServer, urlOn } from './migrated-server.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

const ROUNDS = 5;
const AT_ONCE = 40;

/** Debian's PgBouncer does not know prepared statements. A start notices that; here it comes to stand there later. */
suite('moved behind PgBouncer in transaction mode while statements have names', () => {
  let server: PostgresServer;
  let bouncer: PgBouncer;
  let way: TcpProxy;
  let app: TestApp;

  before(async () => {
    server = await startMigratedServer();
    bouncer = await startPgBouncer(server, 3);
  });
  beforeEach(async () => {
    way = await startTcpProxy(server.port);
    const { url } = urlOn(server.url('service'), `127.0.0.1:${way.port}`);
    const db = await databaseOn(server, url.reveal());
    app = await startTestApp({
      beside: { db, rootKey: generateRootKey() },
      env: { STRONGROOM_DATABASE_URL: url.reveal(), STRONGROOM_DATABASE_LISTEN_URL: server.url('service') },
    });
  });
  afterEach(async () => {
    await app?.close();
    await app?.db.drop();
    await way?.close();
  });
  after(async () => {
    await bouncer?.remove();
    await server?.remove();
  });

  /** As a superuser, past every wall. */
  async function idsOf(query: string, tenantId: string): Promise<string[]> {
    const client = await server.connect();
    try {
      return (await client.query<{ id: string }>(query, [tenantId])).rows.map(({ id }) => id).sort();
    } finally {
      await client.end();
    }
  }

  test('503 and never 500, what was refused is not there, and a line names the setting', async (context) => {
    const tenant = await app.makeTenant();
    const rule = {
      priority: 1,
      container: '/',
      transform: 'reveal',
      permissions: ['token:create', 'token:read'],
    } as const;
    const key = await app.makeKey(tenant.id, 'private', [], [rule]);
    const make = (n: number) => app.call('POST', '/tokens', { key, body: { type: 'token', data: `value ${n}` } });
    const [kept] = [await make(0)];
    assert.equal(kept.status, 201, kept.text);

    way.leadTo(bouncer.port);
    way.resetAll();
    const made: string[] = [kept.json.id];
    const refused: { status: number; text: string; json: { code: string; detail: string } }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, n) => {
          const read = await app.call('GET', `/tokens/${kept.json.id}`, { key });
          const answer = await make(round * AT_ONCE + n + 1);
          if (answer.status === 201) made.push(answer.json.id);
          return [read, answer];
        }),
      );
      refused.push(...answers.flat().filter(({ status }) => status !== 201 && status !== 200));
    }
    if (refused.length === 0) return context.skip('this PgBouncer keeps the names');
    for (const { status, text, json } of refused) {
      assert.equal(status, 503, text);
      assert.equal(json.code, 'storage_unavailable');
      assert.match(json.detail, /Nothing was changed/);
    }
    const lines = app.logLines.filter((line) => line.includes('STRONGROOM_DATABASE_PREPARED_STATEMENTS'));
    assert.ok(
      lines.some((line) => line.includes('"level":"error"') && line.includes('traceId')),
      app.logLines.at(-1),
    );

    const stored = await idsOf('SELECT id FROM tokens WHERE tenant_id = $1', tenant.id);
    assert.deepEqual(stored, made.sort());
    const ofMaking = `entity_type = 'token' AND operation = 'create'`;
    const logged = await idsOf(`SELECT entity_id AS id FROM logs WHERE tenant_id = $1 AND ${ofMaking}`, tenant.id);
    assert.deepEqual(logged, made);

    way.leadTo(server.port);
    way.resetAll();
    await eventually('all is well on the server itself', async () => (await make(-1)).status === 201);
  });
});
