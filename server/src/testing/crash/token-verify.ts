import assert from 'node:assert/strict';
import { findRunningServer } from '../../storage/embedded/running-server.js';
import { connectAs } from '../empty-database.js';
import type { Call } from '../http-client.js';
import type { Promised, TokenJournal } from './token-load.js';
import { create } from './token-load.js';

/** Every counter beside what a recount of the tables gives; one row for each that differs. */
const DIFFERENCES = `
  SELECT 'group' AS what, tenant_id::text || ' ' || group_id AS name, counted, there
  FROM (SELECT tenant_id, group_id, sum(count) AS counted FROM token_groups GROUP BY 1, 2) AS a
  FULL JOIN (SELECT tenant_id, group_id, count(*) AS there FROM tokens GROUP BY 1, 2) AS b USING (tenant_id, group_id)
  WHERE coalesce(counted, 0) <> coalesce(there, 0)
  UNION ALL
  SELECT 'active', tenant_id::text, counted, there
  FROM (SELECT tenant_id, sum(count) AS counted FROM active_token_counts GROUP BY 1) AS a
  FULL JOIN (SELECT tenant_id, count(*) AS there FROM logs WHERE message = 'Token created' GROUP BY 1) AS b
    USING (tenant_id)
  WHERE coalesce(counted, 0) <> coalesce(there, 0)
  UNION ALL
  SELECT 'term', t.tenant_id::text, count(*), NULL FROM token_terms AS t
  WHERE NOT EXISTS (SELECT FROM tokens AS k WHERE k.tenant_id = t.tenant_id AND k.tie = t.tie) GROUP BY 2
  UNION ALL
  SELECT 'created', entity_id, count(*), 1 FROM logs WHERE message = 'Token created' GROUP BY 2 HAVING count(*) <> 1
  UNION ALL
  SELECT 'deleted', entity_id, count(*), 1 FROM logs WHERE message = 'Token deleted' GROUP BY 2 HAVING count(*) <> 1
  UNION ALL
  SELECT 'unlogged', id, 1, 0 FROM tokens AS k
  WHERE NOT EXISTS (SELECT FROM logs AS l WHERE l.tenant_id = k.tenant_id AND l.entity_id = k.id AND l.operation = 'create')`;

/** Compares what the writers were promised with what the tables and the API say. Call it when no writer is at work. */
export async function verifyTokens(dataDir: string, call: Call, journal: TokenJournal, story: string): Promise<void> {
  assert.deepEqual(journal.wrong, [], story);
  const server = await findRunningServer(dataDir);
  assert.ok(server, 'the embedded server takes connections');
  const { socketDir, port, database, ownerRole } = server;
  const client = await connectAs({ socketDir, port, database, user: ownerRole });
  try {
    assert.deepEqual((await client.query(DIFFERENCES)).rows, [], story);
    const { rows } = await client.query<{ entity_id: string }>(
      `SELECT entity_id FROM logs WHERE message = 'Token created'`,
    );
    const logged = new Set(rows.map(({ entity_id }) => entity_id));
    const lost = journal.tokens.filter(({ id }) => !logged.has(id));
    assert.deepEqual(lost, [], `${story}: every acknowledged create is in the log`);
  } finally {
    await client.end();
  }
  await Promise.all(journal.tokens.map((token) => verifyToken(call, token, story)));
  await repeatUnheard(call, journal, story);
  // Judged once is enough: what was whole then cannot come apart later without the tables showing it.
  journal.tokens.length = 0;
  journal.unheard.length = 0;
}

async function verifyToken(call: Call, token: Promised, story: string): Promise<void> {
  const { status, json } = await call('GET', `/tokens/${token.id}`, { key: token.key });
  if (token.end === 'acknowledged' || (token.end === 'unknown' && status === 404)) {
    assert.equal(status, 404, story);
    return;
  }
  assert.equal(status, 200, `${story}: an acknowledged token is there`);
  assert.equal(json.data.marker, token.marker, story);
  const { n } = json.data;
  assert.ok(n >= token.acknowledged && n <= token.tried, `${story}: ${n} of ${token.acknowledged} to ${token.tried}`);
}

/** A client that got no answer asks again with the same idempotency key, and must end up with one token. */
async function repeatUnheard(call: Call, journal: TokenJournal, story: string): Promise<void> {
  for (const { key, marker } of journal.unheard) {
    const { status, json } = await create(call, key, marker);
    assert.equal(status, 201, story);
    const found = await call('POST', '/tokens/search', { key, body: { query: `data:${marker}` } });
    assert.deepEqual(
      found.json.data.map(({ id }: { id: string }) => id),
      [json.id],
      `${story}: asked twice, made once`,
    );
  }
}
