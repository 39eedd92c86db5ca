// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gatherTables } from '../../testing/cluster-only.js';
import { createChance } from '../../testing/crash/rounds.js';
import type { Answer } from '../../testing/http-client.js';
import type { TestApp } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';
import { sweepCvcs, sweepExpiredTokens } from '../../vault/expiry/sweep.js';
import { cardNumber, openVault, pathOf, type TestVault, tally, times, vaultOf } from './vault-fixture.js';

const WRITERS = 16;
const TURNS = 25;
const POOL = 5;

/** Everything that must hold whenever nobody writes; one row for each thing that does not. */
const BROKEN = `
  WITH stored AS (
    SELECT tenant_id, substring(terms FROM 16 * n + 1 FOR 16) AS term, created_at, tie
    FROM tokens, generate_series(0, length(terms) / 16 - 1) AS n)
  SELECT 'term without token' AS what, count(*) FROM token_terms AS t
  WHERE NOT EXISTS (SELECT FROM stored AS s WHERE (s.tenant_id, s.term, s.created_at, s.tie)
                    = (t.tenant_id, t.term, t.created_at, t.tie)) HAVING count(*) > 0
  UNION ALL
  SELECT 'token without term', count(*) FROM stored AS s
  WHERE NOT EXISTS (SELECT FROM token_terms AS t WHERE (s.tenant_id, s.term, s.created_at, s.tie)
                    = (t.tenant_id, t.term, t.created_at, t.tie)) HAVING count(*) > 0
  UNION ALL
  SELECT 'two tokens of one fingerprint', count(*) FROM tokens WHERE id NOT LIKE 'name-%'
  GROUP BY tenant_id, group_id, fingerprint, match_digest, expires_at HAVING count(*) > 1
  UNION ALL
  SELECT 'log and table disagree about ' || entity_id, count(*) FROM logs AS l
  WHERE operation IN ('create', 'delete') AND entity_type IN ('token', 'card')
  GROUP BY tenant_id, entity_id
  HAVING count(*) FILTER (WHERE operation = 'create') - count(*) FILTER (WHERE operation = 'delete')
    <> (SELECT count(*) FROM tokens AS t WHERE t.tenant_id = l.tenant_id AND t.id = l.entity_id)
  UNION ALL
  SELECT 'active tokens are miscounted', counted - made
  FROM (SELECT tenant_id, sum(count) AS counted FROM active_token_counts GROUP BY 1) AS a
  JOIN (SELECT tenant_id, count(*) AS made FROM logs WHERE message = 'Token created' GROUP BY 1) AS b USING (tenant_id)
  WHERE counted <> made`;

describe('a storm of everything at once over few tokens, in two processes and two tenants', () => {
  let one: TestVault;
  let two: TestVault;
  let beside: TestApp;
  before(async () => {
    one = await openVault();
    two = await vaultOf(one.app, one.clock);
    for (const vault of [one, two]) await vault.setTenant({ deduplicate_tokens: 'true' });
    beside = await startTestApp({ clock: one.clock, beside: { db: one.app.db, rootKey: rootKeyOf(one.app) } });
  });
  after(async () => {
    await beside.close();
    await one.app.close();
  });

  it('nothing fails, nothing is made twice, and tables, log and counters agree in the end', async () => {
    const chance = createChance();
    const ids: string[] = [];
    const outcomes: string[] = [];
    const pick = () => ids[chance.below(ids.length)] ?? 'none yet';
    const card = () => ({ type: 'card', data: { number: cardNumber(chance.below(POOL)), cvc: '123' } });
    const named = () => ({ id: `name-${chance.below(POOL)}`, data: chance.below(1_000_000) });
    const alias = () => ({ ...card(), id: '{{ data.number | last4 }}', metadata: { a: String(chance.below(POOL)) } });
    const soon = () => new Date(one.clock.nowMs() + 1 + chance.below(50)).toISOString();
    const acts: (() => [string, string, unknown?])[] = [
      () => ['POST', '/tokens', { ...card(), search_indexes: ['{{ data.number | last4 }}'] }],
      () => ['POST', '/tokens', named()],
      () => ['POST', '/tokens', alias()],
      () => ['POST', '/tokens', { ...named(), expires_at: soon() }],
      () => ['POST', '/tokenize', [card(), card(), named(), 'bare', 'bare']],
      () => ['PATCH', pathOf(pick()), { metadata: { b: String(chance.below(POOL)) } }],
      () => ['PATCH', pathOf(pick()), { containers: [`/box/${chance.below(POOL)}/`] }],
      () => ['PATCH', pathOf(pick()), { data: card().data }],
      () => ['DELETE', pathOf(pick())],
      () => ['GET', pathOf(pick())],
      () => ['GET', '/tokens?size=5'],
      () => ['POST', '/v2/tokens/search', { query: `metadata.b:${chance.below(POOL)}` }],
    ];
    const remember = ({ json }: Answer) => {
      for (const made of Array.isArray(json) ? json : [json]) if (made?.id) ids.push(made.id);
      ids.splice(0, ids.length - 40);
    };
    await times(WRITERS, async (writer) => {
      const vault = writer % 2 === 0 ? one : two;
      const app = writer % 4 < 2 ? one.app : beside;
      for (let turn = 0; turn < TURNS; turn += 1) {
        one.clock.advance(chance.below(3));
        if (chance.below(20) === 0) {
          await sweepExpiredTokens(vault.sweeping, one.clock.nowMs());
          await sweepCvcs(vault.sweeping, one.clock.nowMs() + 3_600_000);
          continue;
        }
        const [method, path, body] = (acts[chance.below(acts.length)] as (typeof acts)[number])();
        const answer = await app.call(method, path, { key: vault.key, body });
        outcomes.push(String(answer.status));
        if (answer.status === 201 || path === '/tokenize') remember(answer);
        // A patch may make a card of a text, which is refused.
        if (![200, 201, 204, 400, 404, 409].includes(answer.status)) outcomes.push(`${method} ${path} ${answer.text}`);
      }
    });
    const story = `CRASH_SEED=${chance.seed}`;
    const counts = tally(outcomes);
    assert.deepEqual(
      Object.keys(counts).filter((name) => !/^(200|201|204|400|404|409)$/.test(name)),
      [],
      story,
    );
    for (const status of ['200', '201', '204', '409']) assert.ok((counts[status] ?? 0) > 0, `${status} ${story}`);
    await one.assertCountersTrue();
    await two.assertCountersTrue();
    await gatherTables(one.app.db.owner, 'tokens', 'token_terms', 'logs', 'active_token_counts');
    assert.deepEqual((await one.app.db.owner.query(BROKEN)).rows, [], story);
    const { rows } = await one.app.db.owner.query<{ tenant_id: string; id: string }>(
      'SELECT tenant_id, id FROM tokens',
    );
    for (const { tenant_id, id } of rows) {
      const { status } = await (tenant_id === one.tenant.id ? one : two).send('GET', pathOf(id));
      assert.ok(status === 200 || status === 404, `${id} opens: ${status}`);
    }
  });
});
