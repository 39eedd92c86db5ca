import assert from 'node:assert/strict';
import type pg from 'pg';
import { newId } from '../kernel/ids.js';
import type { Call } from './http-client.js';
import { ALL_OF_TOKENS, REVEAL_ALL } from './transfer.js';

const TOKENS = 24;
const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };

export interface FilledTenant {
  readonly key: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly sessionKey: string;
  readonly cardId: string;
  readonly orderId: string;
  readonly orderKey: string;
  readonly ids: readonly string[];
}

/** What a caller can see of a tenant. Tokens are looked at last or first, because a look is an entry in the log. */
export interface View {
  readonly logs: readonly unknown[];
  readonly usage: unknown;
  readonly applications: unknown;
  readonly tokens: ReadonlyMap<string, unknown>;
}

async function must(call: Call, method: string, path: string, key: string, body?: unknown, headers = {}) {
  const answer = await call(method, path, { key, headers, ...(body !== undefined && { body }) });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
}

/** Tokens of several kinds, Applications of every type, a session that may read, an answer kept under a key. */
export async function fillTenant(call: Call, key: string): Promise<FilledTenant> {
  const post = (as: string, path: string, body?: unknown, headers?: object) =>
    must(call, 'POST', path, as, body, headers);
  const { key: privateKey } = await post(key, '/applications', {
    name: 'Backend',
    type: 'private',
    permissions: ALL_OF_TOKENS,
    rules: REVEAL_ALL,
  });
  const { key: publicKey } = await post(key, '/applications', {
    name: 'Browser',
    type: 'public',
    permissions: ['token:create'],
  });
  const { id: cardId } = await post(privateKey, '/tokens', { type: 'card', data: CARD, deduplicate_token: true });
  const orderKey = newId();
  const order = { data: 'kept answer' };
  const { id: orderId } = await post(privateKey, '/tokens', order, { 'SVC-IDEMPOTENCY-KEY': orderKey });
  const ids = [cardId, orderId];
  for (let n = 0; n < TOKENS; n += 1) {
    const data = n % 2 === 0 ? `tab\t, back\\slash, \\N, line\nfeed ${n} \u00fc\u{1f600}` : { n, deep: [null, 'x'] };
    const body = {
      id: `token-${n}`,
      data,
      metadata: { n: String(n) },
      search_indexes: [n % 2 === 0 ? '{{ data }}' : '{{ data.n }}'],
    };
    ids.push((await post(privateKey, '/tokens', body)).id);
  }
  await must(call, 'DELETE', `/tokens/${ids.pop()}`, privateKey);
  const session = await post(publicKey, '/sessions');
  await post(privateKey, '/sessions/authorize', { nonce: session.nonce, permissions: ['token:read'] });
  return { key, privateKey, publicKey, sessionKey: session.session_key, cardId, orderId, orderKey, ids };
}

/** Entries that only time brings about: last month's, and older ones. */
export async function insertOldLogs(owner: pg.Client, tenantId: string): Promise<void> {
  for (const months of [1, 14]) {
    const at = `now() - interval '${months} months'`;
    await owner.query(`SELECT ensure_log_partitions(${at}, 0)`);
    await owner.query(
      `INSERT INTO logs SELECT $1, ${at}, gen_random_uuid(), 'user', gen_random_uuid(), 'token', 'old-' || n, 'read',
         E'tab\\t and \\\\', 'success', NULL, 'trace' FROM generate_series(1, 150) n`,
      [tenantId],
    );
  }
}

async function pages(call: Call, path: string, key: string): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let start = ''; ; ) {
    const { data, pagination } = await must(
      call,
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}size=100${start}`,
      key,
    );
    all.push(...data);
    if (!pagination.after) return all;
    start = `&start=${pagination.after}`;
  }
}

export async function viewOf(call: Call, tenant: FilledTenant, tokensFirst: boolean): Promise<View> {
  const readTokens = async () => {
    const tokens = new Map<string, unknown>();
    for (const id of tenant.ids)
      tokens.set(id, await must(call, 'GET', `/tokens/${encodeURIComponent(id)}`, tenant.privateKey));
    return tokens;
  };
  const early = tokensFirst ? await readTokens() : undefined;
  const logs = await pages(call, '/logs?include=details', tenant.key);
  const usage = await must(call, 'GET', '/tenants/self/reports/usage', tenant.key);
  const applications = await must(call, 'GET', '/applications', tenant.key);
  return { logs, usage, applications, tokens: early ?? (await readTokens()) };
}

/** Everything that was there is there, and what depends on more than rows goes on: keys, sessions, claims, answers. */
export async function assertWorksOn(call: Call, tenant: FilledTenant, before: View): Promise<void> {
  const now = await viewOf(call, tenant, false);
  assert.ok(before.logs.length > 300 && before.tokens.size >= TOKENS);
  assert.deepEqual(now, before);
  const { privateKey, publicKey, sessionKey, cardId, orderId, orderKey } = tenant;
  const again = { type: 'card', data: CARD, deduplicate_token: true };
  assert.equal((await must(call, 'POST', '/tokens', privateKey, again)).id, cardId);
  const headers = { 'SVC-IDEMPOTENCY-KEY': orderKey };
  assert.equal((await must(call, 'POST', '/tokens', privateKey, { data: 'kept answer' }, headers)).id, orderId);
  assert.equal((await call('GET', '/tokens/token-0', { key: sessionKey })).status, 200);
  assert.equal((await call('POST', '/sessions', { key: publicKey })).status, 201);
  const made = await must(call, 'POST', '/tokens', publicKey, { data: 'after the drill' });
  assert.equal((await must(call, 'GET', `/tokens/${made.id}`, privateKey)).data, 'after the drill');
}

export interface Writing {
  readonly ids: readonly string[];
  stop(): Promise<void>;
}

/** Makes token after token until it is stopped. */
export function keepWriting(call: Call, privateKey: string): Writing {
  const ids: string[] = [];
  let isOver = false;
  const writers = [1, 2, 3].map(async () => {
    while (!isOver) ids.push((await must(call, 'POST', '/tokens', privateKey, { data: newId() })).id);
  });
  return {
    ids,
    async stop() {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

/** Rows of different tables agree with each other: they are of one moment. Gives the ids of the tokens there are. */
export async function assertOneMoment(
  call: Call,
  tenant: Pick<FilledTenant, 'key' | 'privateKey'>,
): Promise<Set<string>> {
  const usage = await must(call, 'GET', '/tenants/self/reports/usage', tenant.key);
  const counts = Object.values<{ count: number }>(usage.token_report.metrics_by_type).map(({ count }) => count);
  const idsOf = (rows: readonly unknown[], member: string): string[] =>
    rows.map((row) => String((row as Record<string, unknown>)[member])); // Rows of our own API are objects.
  const logs = await pages(call, '/logs', tenant.key);
  const tokens = idsOf(await pages(call, '/v2/tokens', tenant.privateKey), 'id');
  const entitiesOf = (message: string): string[] =>
    idsOf(
      logs.filter((row) => (row as { message: string }).message === message), // Every entry has one.
      'entity_id',
    );
  const deleted = new Set(entitiesOf('Token deleted'));
  assert.deepEqual(
    entitiesOf('Token created')
      .filter((id) => !deleted.has(id))
      .sort(),
    [...tokens].sort(),
  );
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    tokens.length,
  );
  return new Set(tokens);
}
