import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { readRecordHeader } from '../crypto/aead.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import { Secret } from '../kernel/secret.js';
import type { FakeClock } from '../testing/fake-clock.js';
import { createFakeClock } from '../testing/fake-clock.js';
import { keptRows, putName } from '../testing/keyed-puts.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import { openAnswer, sealAnswer } from './kept-answer.js';
import { resealIdempotencyKeys, sweepIdempotencyKeys, verifyIdempotencyKeys } from './upkeep.js';

const DAY_MS = 86_400_000;

describe('looking after kept answers', () => {
  let app: TestApp;
  let clock: FakeClock;
  let tenants: TestTenant[];
  before(async () => {
    clock = createFakeClock(Date.UTC(2026, 10, 15));
    app = await startTestApp({ clock });
  });
  after(() => app.close());
  beforeEach(async () => {
    await app.db.owner.query('DELETE FROM idempotency_keys');
    tenants = [await app.makeTenant(), await app.makeTenant()];
  });

  async function keepEach(count: number): Promise<void> {
    for (const { key } of tenants) {
      for (let at = 0; at < count; at += 1) assert.equal((await putName(app, key, 'N', `k${at}`)).status, 200);
    }
  }

  const left = async () => (await Promise.all(tenants.map(({ id }) => keptRows(app, id)))).flat().length;
  const sweep = (batch: number) => sweepIdempotencyKeys(app.database, clock.nowMs(), batch);

  it('removes what is due, of every tenant, never more than a batch at a time', async () => {
    await keepEach(3);
    clock.advance(1);
    for (const { key } of tenants) await putName(app, key, 'N', 'later');
    clock.advance(DAY_MS - 2);
    assert.equal(await sweep(100), 0);
    clock.advance(1);
    assert.deepEqual([await sweep(4), await left()], [4, 4]);
    assert.deepEqual([await sweep(4), await left()], [2, 2]);
    assert.equal(await sweep(4), 0);
    clock.advance(1);
    assert.deepEqual([await sweep(1), await sweep(1), await sweep(1), await left()], [1, 1, 0, 0]);
  });

  it('leaves a row that is being written anew alone', async () => {
    await keepEach(1);
    clock.advance(DAY_MS);
    await app.db.owner.query('BEGIN');
    try {
      const [first] = tenants;
      await app.db.owner.query('SELECT 1 FROM idempotency_keys WHERE tenant_id = $1 FOR UPDATE', [first?.id]);
      assert.equal(await sweep(100), 1);
    } finally {
      await app.db.owner.query('ROLLBACK');
    }
    assert.equal(await sweep(100), 1);
  });

  /** The same tenant after a rotation: both keys open, the newer one seals. */
  async function rotated(tenantId: string): Promise<TenantKeys> {
    const keys = await app.keyStore.keyring.forTenant(tenantId);
    const byVersion = new Map(keys.encryption.byVersion).set(2, createSecretKey(randomBytes(32)));
    return { ...keys, encryption: { currentVersion: 2, byVersion } };
  }

  it('puts a new tenant key on every row, page by page, and not twice', async () => {
    await keepEach(5);
    const [{ id } = assert.fail()] = tenants;
    const keys = await rotated(id);
    const step = (after: string) => app.database.write(id, (tx) => resealIdempotencyKeys(tx, keys, after, 2));
    const steps: number[] = [];
    for (let place: string | undefined = ''; place !== undefined; ) {
      const { next, resealed, seen } = await step(place);
      assert.equal(resealed, seen);
      steps.push(seen);
      place = next;
    }
    assert.deepEqual(steps, [2, 2, 1]);
    const onlyNew = {
      ...keys,
      encryption: { ...keys.encryption, byVersion: new Map([...keys.encryption.byVersion].slice(1)) },
    };
    for (const row of await keptRows(app, id)) {
      assert.equal(readRecordHeader(row.sealed).keyVersion, 2);
      const { answer } = openAnswer({ keys: onlyNew, id: row.id }, { status: 200, sealed: row.sealed }, undefined);
      assert.equal(JSON.parse(answer.body ?? '').name, 'N');
    }
    assert.deepEqual(await step(''), { next: (await keptRows(app, id))[1]?.id.toString('hex'), resealed: 0, seen: 2 });
    const others = await keptRows(app, tenants[1]?.id ?? '');
    assert.ok(
      others.every(({ sealed }) => readRecordHeader(sealed).keyVersion === 1),
      'another tenant is not touched',
    );
  });

  it('keeps the inner seal of a secret through a rotation, without knowing the credential', async () => {
    const [{ id: tenantId } = assert.fail()] = tenants;
    const id = randomBytes(32);
    const credential = new Secret('key of the caller');
    const before = { keys: await app.keyStore.keyring.forTenant(tenantId), id };
    const body = '{"id":"1","key":"shown once"}';
    const sealed = sealAnswer(before, { status: 201, body, location: '/x/1' }, { fields: ['key'], credential });
    await app.db.owner.query(
      `INSERT INTO idempotency_keys (tenant_id, id, status, sealed, expires_at) VALUES ($1, $2, 201, $3, 'infinity')`,
      [tenantId, id, sealed],
    );
    const keys = await rotated(tenantId);
    const done = await app.database.write(tenantId, (tx) => resealIdempotencyKeys(tx, keys, '', 10));
    assert.deepEqual(done, { next: undefined, resealed: 1, seen: 1 });
    const [row = assert.fail()] = await keptRows(app, tenantId);
    const open = (by: Secret<string> | undefined) =>
      openAnswer({ keys, id }, { status: 201, sealed: row.sealed }, by).answer;
    assert.deepEqual(open(credential), { status: 201, body, location: '/x/1' });
    for (const other of [undefined, new Secret('another key')]) {
      assert.deepEqual(open(other), { status: 201, body: '{"id":"1"}', location: '/x/1' });
    }
  });

  it('passes over rows of which only the success is kept', async () => {
    const [{ id: tenantId } = assert.fail()] = tenants;
    await app.db.owner.query(
      `INSERT INTO idempotency_keys (tenant_id, id, status, sealed, expires_at) VALUES ($1, '\\x01', 201, '', 'infinity')`,
      [tenantId],
    );
    const keys = await rotated(tenantId);
    const done = await app.database.write(tenantId, (tx) => resealIdempotencyKeys(tx, keys, '', 10));
    assert.deepEqual(done, { next: undefined, resealed: 0, seen: 1 });
    const seen = await app.database.read(tenantId, (tx) => verifyIdempotencyKeys(tx, keys, '', 10));
    assert.deepEqual(seen, { next: undefined, seen: 1, faults: [] });
  });

  it('keeps a secret from everybody when the caller had no credential to seal it for', async () => {
    const [{ id: tenantId } = assert.fail()] = tenants;
    const place = { keys: await app.keyStore.keyring.forTenant(tenantId), id: randomBytes(32) };
    const answer = { status: 201, body: '{"id":"1","key":"shown once"}', location: undefined };
    const sealed = sealAnswer(place, answer, { fields: ['key'], credential: undefined });
    for (const credential of [undefined, new Secret('')]) {
      assert.equal(openAnswer(place, { status: 201, sealed }, credential).answer.body, '{"id":"1"}');
    }
  });
});
