// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operatorContext } from '../audit/entry.js';
import { record } from '../audit/record.js';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import { sqlStateOf } from '../storage/faults.js';
import type { TenantTx } from '../storage/scope.js';
import { addActiveTokens, addToGroups } from '../vault/count/queries.js';
import { TOKEN_EVENTS } from '../vault/events.js';
import { claimFingerprint } from '../vault/make/claim-queries.js';
import { insertCombinations } from '../vault/make/combination-queries.js';
import { deleteTerms, deleteTokens, FIND_TOKENS, insertTerms, insertTokens, LOCK_TOKENS } from '../vault/queries.js';
import type { TokenRow } from '../vault/stored/row.js';
import type { Pair } from './isolation-pair.js';
import { makePair, stored } from './isolation-pair.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

/** Rows of bulk statements name their tenant themselves; here one lies, in a transaction that is another tenant's. */
describe('a bulk statement in the transaction of A whose row names B', () => {
  let app: TestApp;
  let pair: Pair;
  let rowOfB: TokenRow;
  /** Writers of its own: what the app writes for B by itself would share a transaction, and with it the scope. */
  let alone: Database;
  before(async () => {
    app = await startTestApp();
    pair = await makePair(app);
    alone = createDatabase({ target: app.db.target, isDistributed: app.db.isDistributed, clock: systemClock });
    const found = await app.db.owner.query<TokenRow>('SELECT * FROM tokens WHERE tenant_id = $1 AND id = $2', [
      pair.b.id,
      pair.b.names.tokenId,
    ]);
    const [row] = found.rows;
    assert.ok(row && row.terms.length > 0);
    rowOfB = row;
  });
  after(async () => {
    await alone.close();
    await app.close();
  });

  /** In the scope of A, with B's name on everything that is sent. */
  const forged = <T>(auditContext: (tx: TenantTx) => Promise<T>): Promise<T> =>
    alone.write(pair.a.id, (tx) => auditContext({ ...tx, tenantId: pair.b.id }));

  const writes: Readonly<Record<string, (tx: TenantTx) => Promise<unknown>>> = {
    'insert tokens': (tx) => insertTokens(tx, [{ ...rowOfB, id: 'planted' }]),
    'insert a token under an id B has': (tx) => insertTokens(tx, [rowOfB]),
    'let in a combination': (tx) =>
      insertCombinations(tx, [{ groupId: newId(), type: 'card', containers: ['/planted/'] }], false),
    'insert terms': (tx) => insertTerms(tx, [{ ...rowOfB, created_at: new Date(0) }]),
    'claim a fingerprint': (tx) => {
      const fingerprint = Buffer.alloc(32, 7);
      const { group_id: groupId } = rowOfB;
      const place = { groupId, scope: groupId, matchDigest: Buffer.alloc(0), expiresAtMs: null };
      return claimFingerprint(tx, {
        tenantId: tx.tenantId,
        type: 'card',
        fingerprint,
        ...place,
        tokenId: 'planted',
        atMs: 0,
      });
    },
    'add to the groups': (tx) =>
      addToGroups(tx, [{ groupId: rowOfB.group_id, type: 'token', containers: ['/x/'], difference: 1 }]),
    'count a token as active': (tx) => addActiveTokens(tx, '2030-01-01', ['planted', undefined]),
    'write to the log': (tx) =>
      record(tx, operatorContext(Date.now()), { event: TOKEN_EVENTS.deleted, entityId: 'planted', outcome: 'success' }),
  };
  for (const [what, write] of Object.entries(writes)) {
    it(`is refused when it would ${what}, and neither of them changes`, async () => {
      const untouched = [await stored(app, pair.a), await stored(app, pair.b)];
      await assert.rejects(forged(write), (error) => {
        assert.equal(sqlStateOf(error), '42501', String(error));
        return true;
      });
      assert.deepEqual([await stored(app, pair.a), await stored(app, pair.b)], untouched);
    });

    it(`${what}: works in the transaction of B, so what is refused is the tenant`, async () => {
      const isTaken = what.includes('B has');
      const before = await stored(app, pair.b);
      await alone.write(pair.b.id, write);
      assert.equal((await stored(app, pair.b)) === before, isTaken);
    });
  }

  it('finds, locks and deletes nothing', async () => {
    const untouched = await stored(app, pair.b);
    const key = { tenantId: pair.b.id, id: rowOfB.id };
    for (const bulk of [FIND_TOKENS, LOCK_TOKENS]) {
      assert.equal(await forged(async (tx) => (await tx.gather(bulk, [key])).get(key)), undefined);
    }
    await assert.rejects(
      forged((tx) => deleteTokens(tx, [rowOfB])),
      { name: 'Overtaken' },
    );
    await forged((tx) => deleteTerms(tx, [rowOfB]));
    assert.equal(await stored(app, pair.b), untouched);
    const own = await alone.write(pair.b.id, async (tx) => (await tx.gather(FIND_TOKENS, [key])).get(key));
    assert.equal(own?.id, rowOfB.id);
  });

  it('takes honest rows of A down with a forged one: all are written, or none', async () => {
    const before = await stored(app, pair.a);
    const rows = [
      { ...rowOfB, tenant_id: pair.a.id, id: 'honest' },
      { ...rowOfB, id: 'planted-too' },
    ];
    await assert.rejects(alone.write(pair.a.id, (tx) => insertTokens(tx, rows)));
    assert.equal(await stored(app, pair.a), before);
  });
});
