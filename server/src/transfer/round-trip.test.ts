import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import {
  ALL_OF_TOKENS,
  exportFrom,
  importInto,
  logCounts,
  makeMany,
  makeScratch,
  makeTransferPair,
  REVEAL_ALL,
} from '../testing/transfer.js';

const MADE_MS = Date.UTC(2030, 0, 20, 9, 30, 0, 125);
const MONTH_MS = 31 * 86_400_000;
const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031 };
const SECRETS = ['4242424242424242', 'canary-value', 'canary-note', '999-canary'];

const TOKENS = [
  { type: 'card', data: { ...CARD, cvc: '123' }, search_indexes: ['{{ data.number }}', '{{ data.cvc }}'] },
  { type: 'token', id: 'own id: ü', data: 'canary-value', metadata: { Note: 'canary-note', __proto__x: 'y' } },
  {
    data: { deep: [1, null, { a: '999-canary' }], empty: {} },
    mask: { shown: '{{ data.deep }}' },
    containers: ['/b/', '/a/c/'],
  },
  { data: 0, search_indexes: [], metadata: {}, encryption: { kid: 'k1' }, expires_at: '2030-02-25T00:00:00Z' },
  { data: 'print', fingerprint_expression: '{{ data }}', mask: null, privacy: { classification: 'pii' } },
  { type: 'social_security_number', data: '123-45-6789' },
  { data: 'short-lived', id: 'short-lived', expires_at: '2030-01-25T00:00:00Z' },
];

interface Installation {
  readonly app: TestApp;
  readonly tenant: TestTenant;
  /** Sees everything as it is. */
  readonly revealing: string;
  /** Sees what masks leave. */
  readonly masked: string;
}

async function install(app: TestApp): Promise<Installation> {
  const tenant = await app.makeTenant();
  return {
    app,
    tenant,
    revealing: await app.makeKey(tenant.id, 'private', ALL_OF_TOKENS, REVEAL_ALL),
    masked: await app.makeKey(tenant.id, 'private', ALL_OF_TOKENS),
  };
}

/** Everything the API tells of a token, without what belongs to the tenant: its id and its fingerprints. */
async function views({ app, revealing, masked }: Installation, id: string): Promise<unknown[]> {
  const answers = await Promise.all(
    [revealing, masked].map((key) => app.call('GET', `/tokens/${encodeURIComponent(id)}`, { key })),
  );
  return answers.map(({ status, json }) => {
    assert.equal(status, 200);
    const { tenant_id: _, fingerprint, ...rest } = json;
    return { ...rest, isFingerprinted: fingerprint !== undefined };
  });
}

async function found({ app, revealing }: Installation, query: string): Promise<string[]> {
  const { status, json, text } = await app.call('POST', '/tokens/search', { key: revealing, body: { query } });
  assert.equal(status, 200, text);
  return json.data.map(({ id }: { id: string }) => id);
}

async function usage({ app, tenant }: Installation) {
  const { json } = await app.call('GET', '/tenants/self/reports/usage', { key: tenant.key });
  const { metrics_by_type, monthly_active_tokens } = json.token_report;
  const counts = Object.entries(metrics_by_type as Record<string, { count: number }>);
  return { counts: Object.fromEntries(counts.map(([type, { count }]) => [type, count])), monthly_active_tokens };
}

describe('tokens that move', () => {
  const clock = createFakeClock(MADE_MS);
  const pair = makeTransferPair();
  let source: Installation;
  let beside: Installation;
  let elsewhere: Installation;
  let ids: string[];
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let folder: string;
  before(async () => {
    scratch = await makeScratch();
    folder = join(scratch.path, 'export');
    source = await install(await startTestApp({ clock }));
    beside = await install(source.app);
    elsewhere = await install(await startTestApp({ clock }));
    ids = [];
    for (const body of TOKENS) {
      clock.advance(1);
      const made = await source.app.call('POST', '/tokens', { key: source.masked, body });
      assert.equal(made.status, 201, made.text);
      ids.push(made.json.id);
    }
    clock.advance(1_000);
    const changed = await source.app.call('PATCH', `/tokens/${ids[2]}`, {
      key: source.masked,
      body: { metadata: { changed: 'Yes' } },
    });
    assert.equal(changed.status, 200, changed.text);
    clock.advance(MONTH_MS);
    const outcome = await exportFrom(source.app, source.tenant.id, folder, pair, { clock, segmentTokensMax: 4 });
    assert.deepEqual(outcome, { kind: 'complete', tokens: 6, segments: 2, tokensNow: 6, damaged: [] });
  });
  after(async () => {
    await source.app.close();
    await elsewhere.app.close();
    await scratch.remove();
  });

  it('leave one entry each in the log, without an actor, and count as active once', async () => {
    const logged = await logCounts(source.app, source.tenant.id, 'Token retrieved');
    assert.deepEqual(
      [...logged].sort(),
      ids
        .slice(0, 6)
        .map((id) => [id, 1])
        .sort(),
    );
    assert.equal((await usage(source)).monthly_active_tokens, 6);
  });

  it('lie in files of their owner alone, and nothing of them can be read there', async () => {
    const names = (await readdir(folder)).sort();
    assert.deepEqual(names, ['manifest.sealed', 'segment-000001.sealed', 'segment-000002.sealed']);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    for (const name of names) {
      const bytes = await readFile(join(folder, name));
      assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
      for (const secret of [...SECRETS, ...ids, source.tenant.id]) {
        assert.ok(!bytes.includes(secret), `${name} holds ${secret}`);
      }
    }
  });

  for (const [where, target] of [
    ['another tenant', () => beside],
    ['another installation', () => elsewhere],
  ] as const) {
    it(`arrive in ${where} with every field as the API shows it, masked and revealed`, async () => {
      const outcome = await importInto(target().app, target().tenant.id, folder, pair, { clock });
      assert.deepEqual([outcome.created, outcome.expired, outcome.refused, outcome.incomplete], [6, 0, [], 1]);
      for (const [n, id] of ids.slice(0, 6).entries()) {
        assert.deepEqual(await views(target(), id), await views(source, id), `token ${n}`);
      }
      const log = await logCounts(target().app, target().tenant.id, 'Token created');
      assert.deepEqual(
        [...log].sort(),
        ids
          .slice(0, 6)
          .map((id) => [id, 1])
          .sort(),
      );
    });

    it(`are found in ${where} by index, by metadata and by the fingerprint they have there`, async () => {
      assert.deepEqual(await found(target(), 'data:4242424242424242'), [ids[0]]);
      assert.deepEqual(await found(target(), 'data:123'), []);
      assert.deepEqual(await found(target(), 'metadata.Note:canary-note'), [ids[1]]);
      assert.deepEqual(await found(target(), 'metadata.changed:yes'), [ids[2]]);
      const { json } = await target().app.call('GET', `/tokens/${ids[4]}`, { key: target().revealing });
      assert.deepEqual(await found(target(), `fingerprint:${json.fingerprint}`), [ids[4]]);
      const original = await source.app.call('GET', `/tokens/${ids[4]}`, { key: source.revealing });
      assert.notEqual(json.fingerprint, original.json.fingerprint);
    });

    it(`are counted in ${where}: by type, and once as active however often they are read`, async () => {
      assert.deepEqual(await usage(target()), {
        counts: { token: 4, bank: 0, card: 1, social_security_number: 1 },
        monthly_active_tokens: 6,
      });
      const { json } = await target().app.call('GET', '/tokens?size=2&container=/b/', { key: target().revealing });
      assert.equal(json.pagination.total_items, 1);
    });

    it(`are there already when ${where} imports them again, and nothing changes`, async () => {
      const outcome = await importInto(target().app, target().tenant.id, folder, pair, { clock });
      assert.deepEqual([outcome.created, outcome.present, outcome.conflicts], [0, 6, 0]);
      assert.equal((await usage(target())).monthly_active_tokens, 6);
      const log = await logCounts(target().app, target().tenant.id, 'Token created');
      assert.deepEqual([...new Set(log.values())], [1]);
    });
  }

  it('stay away when one has the id of another token: nothing is written, or all others with skip', async () => {
    const target = await install(elsewhere.app);
    await target.app.call('POST', '/tokens', { key: target.masked, body: { id: ids[1], data: 'another' } });
    const refused = await importInto(target.app, target.tenant.id, folder, pair, { clock });
    assert.deepEqual([refused.kind, refused.conflicts, refused.conflictIds], ['conflict', 1, [ids[1]]]);
    assert.equal((await usage(target)).counts.token, 1);
    const outcome = await importInto(target.app, target.tenant.id, folder, pair, { clock, onConflict: 'skip' });
    assert.deepEqual([outcome.created, outcome.conflicts], [5, 1]);
    const { json } = await target.app.call('GET', `/tokens/${encodeURIComponent(ids[1] ?? '')}`, {
      key: target.revealing,
    });
    assert.equal(json.data, 'another');
  });

  it('keep their ids in a tenant that deduplicates, and are matched there only when asked', async () => {
    const settings = { isFingerprinting: true, isDeduplicating: true };
    const target = await install(elsewhere.app);
    await makeMany(target.app, target.masked, 1, 'x');
    const twice = await install(source.app);
    for (const id of ['one', 'two']) {
      const body = { id, data: 'alike' };
      assert.equal((await twice.app.call('POST', '/tokens', { key: twice.masked, body })).status, 201);
      clock.advance(1);
    }
    const out = join(scratch.path, 'alike');
    await exportFrom(twice.app, twice.tenant.id, out, pair, { clock });
    const plain = await importInto(target.app, target.tenant.id, out, pair, { clock, settings });
    assert.deepEqual([plain.created, plain.matched], [2, 0]);
    const other = await install(elsewhere.app);
    const asked = await importInto(other.app, other.tenant.id, out, pair, { clock, settings, isDeduplicating: true });
    assert.deepEqual([asked.created, asked.matched], [1, 1]);
    assert.equal((await usage(other)).counts.token, 1);
    assert.equal((await other.app.call('GET', '/tokens/one', { key: other.revealing })).status, 200);
  });

  it('are left out once they have expired on the way', async () => {
    const target = await install(elsewhere.app);
    const later = createFakeClock(Date.UTC(2030, 1, 25));
    const outcome = await importInto(target.app, target.tenant.id, folder, pair, { clock: later });
    assert.deepEqual([outcome.created, outcome.expired], [5, 1]);
  });

  it('are told apart from one that was altered in the database, which is left out and named', async () => {
    const twice = await install(source.app);
    const [bad = '', good = ''] = await makeMany(twice.app, twice.masked, 2, 'v');
    await twice.app.db.owner.query(
      `UPDATE tokens SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE tenant_id = $1 AND id = $2`,
      [twice.tenant.id, bad],
    );
    const outcome = await exportFrom(twice.app, twice.tenant.id, join(scratch.path, 'bad'), pair, { clock });
    assert.deepEqual([outcome.tokens, outcome.damaged], [1, [bad]]);
    const logged = await logCounts(twice.app, twice.tenant.id, 'Token retrieved');
    assert.deepEqual([...logged], [[good, 1]]);
  });
});
