// needs: processes

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { unlessCitus } from '@strongroom/test-servers/citus.js';
import pg from 'pg';
import { clientConfig, DEFAULT_TIME_BOUNDS } from '../storage/connection.js';
import { FIND_MANY_TOKENS, FIND_TOKENS, findWholeTokens, LOCK_TOKENS } from '../vault/queries.js';
import { eventually } from './eventually.js';
import type { Pair, Populated } from './isolation-pair.js';
import { makePair } from './isolation-pair.js';
import { walkIsolation } from './isolation-walk.js';
import type { SentStatements } from './sent-statements.js';
import { hearStatements, tasksOf } from './sent-statements.js';
import { describeShared, SHARED_SERVER_VARIABLE, sharedServer, startSharedServer } from './shared-server.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

const LOG = ['insert_logs_of_1', 'add_log_counts_of_1'];
/** What the paths send that carry the load, each of which one server has to answer. */
const HOT_PATHS: Readonly<Record<string, readonly string[]>> = {
  'a key that nobody remembers': ['find_in_credential_directory', 'find_credential_of_tenant', 'find_tenant_keys'],
  'create a token': [
    ...['insert_tokens_of_1', 'insert_token_terms_of_2', 'add_to_token_groups_of_1', 'add_made_of_tenant', ...LOG],
    ...['find_known_combinations', 'count_combinations', 'let_in_of_tenant', 'claim_one_fingerprint'],
  ],
  'create many': ['insert_tokens', 'insert_token_terms', 'insert_logs', 'find_token_ids'],
  'create under an idempotency key': ['find_kept_answers', 'insert_answer_alone', 'insert_shown_by_answer'],
  'read and detokenize': ['find_tokens_alone', 'find_tokens', 'find_many_tokens', 'find_whole_tokens', ...LOG],
  'count a token as active': ['add_active_of_tenant'],
  'update a token': ['lock_tokens_alone', 'lock_tokens', 'update_tokens_alone', 'delete_token_terms'],
  'delete a token': ['delete_tokens', 'release_claims_alone', 'empty_kept_answers'],
  'list tokens': [
    'find_tokens_by_time_all',
    'count_tokens_all',
    'find_tokens_by_ids_all',
    'find_tokens_by_time_groups',
  ],
  'search tokens': ['find_tokens_by_terms_all', 'count_tokens_by_term', 'find_tokens_by_fingerprints_all'],
  'read the log': ['list_logs_', 'count_logs_'],
  'queue a request of a Reactor': ['insert_reactor_request', 'claim_reactor_requests', 'conclude_reactor_request'],
};

/** Jobs that look for tenants with something due, at every server by design. */
const AT_EVERY_SERVER =
  /^(list_tenants_(with_(due|old)_|to_purge$)|list_purged_tenants$|find_tenants_by_(cvc_)?expires_at$)/;

const JOBS = ['list_tenants_with_due_requests', 'claim_reactor_requests', 'conclude_reactor_request'];

describe('statements on a cluster', { skip: unlessCitus() }, () => {
  let heard: SentStatements;
  let app: TestApp;
  let client: pg.Client;
  let stop = async (): Promise<void> => {};
  const tasks = new Map<string, readonly number[]>();

  before(async () => {
    if (sharedServer().workers.length === 0) {
      const cluster = await startSharedServer(true);
      stop = cluster.stop;
      process.env[SHARED_SERVER_VARIABLE] = describeShared(cluster);
    }
    heard = hearStatements();
    app = await startTestApp();
    const pair = await makePair(app);
    await work(app, pair);
    await eventually('jobs have looked', async () => JOBS.every((name) => heard.byName.has(name)));
    heard.restore();
    client = new pg.Client(clientConfig(app.db.target, DEFAULT_TIME_BOUNDS));
    await client.connect();
    for (const sent of heard.byName.values()) tasks.set(sent.name, await tasksOf(client, sent));
  });
  after(async () => {
    heard?.restore();
    await client?.end();
    await app?.close();
    await stop();
  });

  for (const [path, names] of Object.entries(HOT_PATHS)) {
    it(`one task for each of what is sent to ${path}`, () => {
      const found = names.map((name) => [name, tasks.get(name)]);
      assert.deepEqual(
        found,
        names.map((name) => [name, [1]]),
      );
    });
  }

  it('nothing that any route sends for a tenant goes to more than one server', () => {
    const ofTenants = [...heard.byName.values()].filter(({ role }) => role === 'strongroom_app');
    assert.ok(ofTenants.length > 120, `${ofTenants.length} statements were heard`);
    const others = ofTenants.filter(({ name }) => tasks.get(name)?.join() !== '1').map(({ name }) => name);
    // People are in no tenant, and are on the coordinator.
    assert.deepEqual(others, ['insert_owner']);
  });

  it('of all others only jobs that look for tenants ask every server', () => {
    const several = [...tasks].filter(([, counts]) => counts.some((count) => count > 1)).map(([name]) => name);
    assert.deepEqual(
      several.filter((name) => !AT_EVERY_SERVER.test(name)),
      [],
    );
    assert.ok(several.length > 0, 'a statement that asks every server is told from others');
  });
});

/** Every route, by somebody who may and by somebody who may not, and what takes more tokens than they do. */
async function work(app: TestApp, { a, b }: Pair): Promise<void> {
  await walkIsolation(app, a, b.names);
  await workOnTokens(app, b);
  await walkIsolation(app, b, b.names);
}

async function workOnTokens(app: TestApp, { id: tenantId, privateKey: key }: Populated): Promise<void> {
  const send = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await app.call(method, path, { key, headers, ...(body !== undefined && { body }) });
    assert.ok(answer.status < 300, answer.text);
    return answer.json;
  };
  const token = (n: number) => ({
    ...{ type: 'token', data: `value ${n}`, search_indexes: ['{{ data }}', 'v{{ data }}'] },
    ...{ fingerprint_expression: '{{ data }}', deduplicate_token: n % 2 === 0 },
  });
  const many = Array.from({ length: 40 }, (_, n) => ({ ...token(n), id: `many-${n}` }));
  await send('POST', '/tokenize', many);
  await send('POST', '/tokens', token(41), { 'SVC-IDEMPOTENCY-KEY': 'once' });
  await send('POST', '/tokens', { ...token(43), containers: ['/new/'] });
  await send('PATCH', '/tokens/many-1', { data: 'another', fingerprint_expression: '{{ data }}' });
  await send('POST', '/detokenize', { one: '{{ many-2 }}', two: '{{ many-3 }}' });
  await send('DELETE', '/tokens/many-4');
  const keys = ['many-5', 'many-6'].map((id) => ({ tenantId, id }));
  for (const bulk of [FIND_TOKENS, FIND_MANY_TOKENS]) await app.database.read(tenantId, (tx) => tx.gather(bulk, keys));
  await app.database.read(tenantId, (tx) => findWholeTokens(tx, ['many-5', 'many-6']));
  await app.database.write(tenantId, (tx) => tx.gather(LOCK_TOKENS, keys));
}
