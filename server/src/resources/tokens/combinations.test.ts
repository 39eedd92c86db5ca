import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR_MS } from '../../jobs/job-record.js';
import { createCombinations, STRANGERS_COMBINATIONS_MAX } from '../../vault/make/combinations.js';
import { createDirectory } from '../../vault/search/directory.js';
import { countTokens } from '../../vault/search/list-queries.js';
import type { TestVault } from './vault-fixture.js';
import { openVault, pathOf, rule, tally, times, vaultOf, writesNothing } from './vault-fixture.js';

const CHANGES = ['token:create', 'token:update'];
const BATCH = 100;
let made = 0;

/** Tokens in containers nobody used before. */
function fresh(count: number) {
  made += count;
  return Array.from({ length: count }, (_, n) => ({ type: 'token', data: 'x', containers: [`/c/${made - n}/`] }));
}

describe('combinations of type and containers', () => {
  let vault: TestVault;
  let publicKey: string;
  before(async () => {
    vault = await openVault();
    publicKey = await vault.app.makeKey(vault.tenant.id, 'public', CHANGES);
  });
  after(() => vault.app.close());

  const tokenize = (count: number, key: string, on = vault) => on.send('POST', '/tokenize', fresh(count), { key });
  const counted = async (on = vault) => {
    const { rows } = await vault.app.db.owner.query<{ all: number; strangers: number }>(
      `SELECT count(*)::int AS all, (count(*) FILTER (WHERE by_stranger))::int AS strangers
       FROM token_groups WHERE tenant_id = $1 AND slot = -1`,
      [on.tenant.id],
    );
    return rows[0] ?? { all: 0, strangers: 0 };
  };
  /** Rows as letting in writes them, so that a tenant is full without ten thousand tokens. */
  const fill = (on: TestVault, count: number, byStranger: boolean, seen = 'now()') =>
    vault.app.db.owner.query(
      `INSERT INTO token_groups (tenant_id, group_id, slot, type, containers, count, by_stranger, seen_at)
       SELECT $1, gen_random_uuid(), -1, 'token', ARRAY['/filled/'], 0, $2, ${seen} FROM generate_series(1, $3)`,
      [on.tenant.id, byStranger, count],
    );
  const refusedFor = (answer: { status: number; json: { errors?: object } }, ...fields: string[]) => {
    assert.equal(answer.status, 400);
    assert.deepEqual(Object.keys(answer.json.errors ?? {}), fields);
  };

  it('400 once public keys and sessions have added 1,000, for create, tokenize and PATCH, and nothing is written', async () => {
    const { app, tenant } = vault;
    const first = await vault.send('POST', '/tokens', fresh(1)[0], { key: publicKey });
    assert.equal(first.status, 201);
    for (let added = 1; added < STRANGERS_COMBINATIONS_MAX; added += BATCH) {
      const count = Math.min(BATCH, STRANGERS_COMBINATIONS_MAX - added);
      assert.equal((await tokenize(count, publicKey)).status, 200);
    }
    assert.equal((await counted()).strangers, STRANGERS_COMBINATIONS_MAX);
    const { json: session } = await app.call('POST', '/sessions', { key: publicKey });
    const grants = { nonce: session.nonce, rules: [{ ...rule('mask'), permissions: CHANGES }] };
    assert.equal((await vault.send('POST', '/sessions/authorize', grants)).status, 200);
    const other = await app.makeKey(tenant.id, 'public', [], [rule('mask', '/c/', CHANGES)]);
    // Only who sees a token in the clear may move it, if a stranger.
    const mover = await app.makeKey(tenant.id, 'public', [], [rule('reveal', '/c/', CHANGES)]);
    for (const key of [publicKey, session.session_key, other]) {
      await writesNothing(app, async () => {
        const [one] = fresh(1);
        refusedFor(await vault.send('POST', '/tokens', one, { key }), 'containers');
        refusedFor(
          await vault.send('POST', '/tokens', { ...one, type: 'token', containers: ['/c/1/', '/c/2/'] }, { key }),
          'containers',
        );
        refusedFor(
          await vault.send('POST', '/tokenize', { a: [{ ...one, containers: ['/c/1/'] }, one] }, { key }),
          'a[1].containers',
        );
        const patch = { containers: one?.containers };
        refusedFor(await vault.send('PATCH', pathOf(first.json.id), patch, { key: mover }), 'containers');
      });
      const known = { data: 'x', containers: ['/c/1/'] };
      assert.equal((await vault.send('POST', '/tokens', known, { key })).status, 201, 'known ones go on');
    }
    const neighbour = await vaultOf(app, vault.clock);
    const theirs = await app.makeKey(neighbour.tenant.id, 'public', CHANGES);
    assert.equal((await tokenize(BATCH, theirs, neighbour)).status, 200);
  });

  it('200 for a private key past what strangers may add, and 400 past 10,000 in all', async () => {
    assert.equal((await tokenize(BATCH, vault.key)).status, 200);
    const full = await vaultOf(vault.app, vault.clock);
    await full.make({ data: 'x', containers: ['/known/'] });
    await fill(full, 9_949, false);
    assert.equal((await tokenize(50, full.key, full)).status, 200);
    const more = fresh(2);
    refusedFor(await full.send('POST', '/tokenize', more), '[0].containers', '[1].containers');
    refusedFor(await full.send('POST', '/tokens', more[0]), 'containers');
    await full.make({ data: 'x', containers: ['/known/'] });
    const { json } = await full.send('GET', '/v2/tokens?container=/known/');
    assert.equal(json.data.length, 2);
  });

  it('never more than 1,000 however many requests of a process add them at once', async () => {
    const busy = await vaultOf(vault.app, vault.clock);
    const key = await vault.app.makeKey(busy.tenant.id, 'public', CHANGES);
    const answers = await times(25, () => tokenize(70, key, busy));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 14, 400: 11 });
    assert.equal((await counted(busy)).strangers, 980);
  });

  it('at most a request more for each further process that adds them at the same moment', async () => {
    const shared = await vaultOf(vault.app, vault.clock);
    await fill(shared, 990, true);
    const { database } = vault.app;
    const processes = times(3, async () => createCombinations({ database }));
    const principal = {
      kind: 'application',
      tenantId: shared.tenant.id,
      applicationType: 'public',
      actor: { type: 'application', id: shared.tenant.id },
    } as never; // What is asked of a caller here is who it is.
    const tokens = (n: number) =>
      fresh(10).map(({ containers }) => ({
        row: { group_id: crypto.randomUUID() },
        content: { type: 'token', containers: [...containers, `/${n}/`] },
      })) as never;
    const auditContext = { atMs: vault.clock.nowMs() } as never;
    await Promise.allSettled((await processes).map((each, n) => each.allow(principal, auditContext, tokens(n))));
    const { strangers } = await counted(shared);
    assert.ok(strangers >= 1_000 && strangers <= 1_000 + 2 * 10, String(strangers));
  });

  it('asks the database for nothing where all combinations are known, and again ten minutes later', async () => {
    let asked = 0;
    const { database } = vault.app;
    const counting = {
      ...database,
      readAtOnce: (...given: Parameters<typeof database.readAtOnce>) => {
        asked += 1;
        return database.readAtOnce(...given);
      },
    };
    const combinations = createCombinations({ database: counting as typeof database });
    const principal = {
      kind: 'application',
      tenantId: vault.tenant.id,
      applicationType: 'private',
      actor: { type: 'application' },
    } as never;
    const token = {
      row: { group_id: crypto.randomUUID() },
      content: { type: 'token', containers: ['/asked/'] },
    } as never;
    const allow = (atMs: number) => combinations.allow(principal, { atMs } as never, [token]);
    await allow(0);
    const before = asked;
    for (let n = 0; n < 100; n += 1) assert.equal(allow(n), undefined);
    assert.equal(asked, before);
    await allow(600_001);
    assert.ok(asked > before);
  });

  it('201 again once tokens are gone and nobody asked for their combinations for an hour', async () => {
    const freed = await vaultOf(vault.app, vault.clock);
    const key = await vault.app.makeKey(freed.tenant.id, 'public', CHANGES);
    const kept = await freed.make({ data: 'x', containers: ['/kept/'] }, key);
    const { id } = await freed.make({ data: 'x', containers: ['/left/'] }, key);
    await fill(freed, 998, true);
    refusedFor(await tokenize(1, key, freed), '[0].containers');
    assert.equal((await freed.send('DELETE', pathOf(id))).status, 204);
    const age = (minutes: number) =>
      vault.app.db.owner.query(
        `UPDATE token_groups SET seen_at = now() - $2::int * interval '1 minute' WHERE tenant_id = $1 AND slot = -1`,
        [freed.tenant.id, minutes],
      );
    await age(59);
    vault.clock.advance(HOUR_MS / 30);
    refusedFor(await tokenize(1, key, freed), '[0].containers');
    await age(61);
    refusedFor(await tokenize(1, key, freed), '[0].containers');
    vault.clock.advance(HOUR_MS / 30);
    assert.equal((await tokenize(1, key, freed)).status, 200);
    assert.deepEqual(await counted(freed), { all: 2, strangers: 2 });
    await freed.assertCountersTrue();
    assert.equal((await freed.send('GET', pathOf(kept.id))).status, 200);
    assert.equal((await freed.send('GET', '/tokens')).json.pagination.total_items, 2);
  });
});

describe('lists by rules with a directory that is remembered', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  it('200 with the tokens of every combination as soon as they are made, moved or gone', async () => {
    const reader = await vault.keyWith([rule('reveal', '/seen/', ['token:read', 'token:search'])]);
    const seen = async () => {
      const list = await vault.send('GET', '/tokens', undefined, { key: reader });
      const found = await vault.send('POST', '/v2/tokens/search', { query: 'type:token' }, { key: reader });
      assert.equal(list.json.pagination.total_items, list.json.data.length);
      assert.equal(found.json.data.length, list.json.data.length);
      return list.json.data.map(({ data }: { data: string }) => data).sort();
    };
    assert.deepEqual(await seen(), []);
    const { id } = await vault.make({ data: 'a', containers: ['/seen/a/'] });
    assert.deepEqual(await seen(), ['a']);
    await vault.make({ data: 'hidden', containers: ['/hidden/'] });
    assert.deepEqual(await seen(), ['a']);
    await vault.make({ data: 'b', containers: ['/seen/a/'] });
    assert.deepEqual(await seen(), ['a', 'b']);
    assert.equal((await vault.send('PATCH', pathOf(id), { containers: ['/hidden/'] })).status, 200);
    assert.deepEqual(await seen(), ['b']);
    assert.equal((await vault.send('PATCH', pathOf(id), { containers: ['/other/', '/seen/moved/'] })).status, 200);
    assert.deepEqual(await seen(), ['a', 'b']);
    assert.equal((await vault.send('DELETE', pathOf(id))).status, 204);
    assert.deepEqual(await seen(), ['b']);
    assert.equal(
      (await vault.send('POST', '/tokenize', [{ type: 'token', data: 'c', containers: ['/seen/c/'] }])).status,
      200,
    );
    assert.deepEqual(await seen(), ['b', 'c']);
  });

  it('a total over most of many combinations is exact, and counts nothing that was let in since they were read', async () => {
    const { app, tenant, clock } = vault;
    const many = Array.from({ length: 600 }, (_, n) => ({ type: 'token', data: n, containers: [`/many/${n}/`] }));
    for (let from = 0; from < many.length; from += BATCH) {
      assert.equal((await vault.send('POST', '/tokenize', many.slice(from, from + BATCH))).status, 200);
    }
    await vault.make({ data: 'twice', containers: ['/many/0/'] });
    await vault.make({ data: 'over', containers: ['/many/1/'], expires_at: new Date(clock.nowMs() + 1).toISOString() });
    await vault.make({ data: 'too', containers: ['/few/'], expires_at: new Date(clock.nowMs() + 1).toISOString() });
    clock.advance(1);
    const reader = await vault.keyWith([rule('reveal', '/many/', ['token:read'])]);
    const list = await vault.send('GET', '/tokens', undefined, { key: reader });
    assert.equal(list.json.pagination.total_items, 601);

    const nowMs = clock.nowMs();
    const directory = await app.database.read(tenant.id, (tx) => createDirectory()(tx, nowMs));
    const seen = directory.filter(({ containers }) => containers.some((path) => path.startsWith('/many/')));
    const condition = { kind: 'groups', groupIds: seen.map(({ id }) => id) } as const;
    const count = () =>
      app.database.read(tenant.id, (tx) => countTokens(tx, { condition, directory, termRows: new Map(), nowMs }));
    assert.equal(await count(), 601);
    await vault.make({ data: 'unseen', containers: ['/unseen/'] });
    assert.equal(await count(), 601);
  });
});
