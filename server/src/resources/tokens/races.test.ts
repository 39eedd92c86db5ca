import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operatorContext } from '../../audit/entry.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import { HOUR_MS } from '../../jobs/job-record.js';
import type { TenantTx } from '../../storage/scope.js';
import { removeTokens, writeChange } from '../../vault/change/change.js';
import { TOKEN_EVENTS } from '../../vault/events.js';
import { sweepCvcs } from '../../vault/expiry/sweep.js';
import type { OpenRow } from '../../vault/open/open-rows.js';
import { sealContent } from '../../vault/stored/seal.js';
import { CARD, openVault, pathOf, type TestVault, tally, times, vaultOf } from './vault-fixture.js';

const MANY = 50;

describe('tokens that many change at once', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  it('201 for exactly one of many creates with one id, 409 for the others, and theirs is the one stored', async () => {
    const answers = await times(MANY, (n) => vault.send('POST', '/tokens', { id: 'wanted-by-all', data: { n } }));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 201: 1, 409: MANY - 1 });
    const winner = answers.findIndex(({ status }) => status === 201);
    assert.deepEqual((await vault.send('GET', '/tokens/wanted-by-all')).json.data, { n: winner });
    const created = (await vault.logOf('wanted-by-all')).filter(({ operation }) => operation === 'create');
    assert.equal(created.length, 1);
    await vault.assertCountersTrue();
  });

  it('201 for everybody else while some ask for an id that is taken: a 409 is never a neighbour’s', async () => {
    await vault.make({ id: 'taken-before', data: 1 });
    const answers = await times(MANY, (n) =>
      vault.send('POST', '/tokens', { ...(n % 5 === 0 && { id: 'taken-before' }), data: { n } }),
    );
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(
      statuses,
      statuses.map((_, n) => (n % 5 === 0 ? 409 : 201)),
    );
    await vault.assertCountersTrue();
  });

  it('the same id at once in two tenants: 201 in each, and each keeps its own', async () => {
    const other = await vaultOf(vault.app, vault.clock);
    const answers = await times(2 * MANY, (n) =>
      (n % 2 === 0 ? vault : other).send('POST', '/tokens', { id: 'shared-name', data: n % 2 }),
    );
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 201: 2, 409: 2 * MANY - 2 });
    assert.equal((await vault.send('GET', '/tokens/shared-name')).json.data, 0);
    assert.equal((await other.send('GET', '/tokens/shared-name')).json.data, 1);
  });

  it('204 for exactly one of many deletes, 404 for the others; logged and counted once', async () => {
    const { id } = await vault.make({ data: 'once' });
    const answers = await times(MANY, () => vault.send('DELETE', pathOf(id)));
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 204: 1, 404: MANY - 1 });
    const deleted = (await vault.logOf(id)).filter(({ operation }) => operation === 'delete');
    assert.equal(deleted.length, 1);
    await vault.assertCountersTrue();
  });

  it('200 for many patches of one token at once, and none is lost', async () => {
    const { id } = await vault.make({ data: {}, metadata: {} });
    const answers = await times(40, (n) =>
      vault.send('PATCH', pathOf(id), { data: { [`d${n}`]: n }, metadata: { [`m${n}`]: `${n}` } }),
    );
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 40 });
    const { json } = await vault.send('GET', pathOf(id));
    assert.equal(Object.keys(json.data).length, 40);
    assert.equal(Object.keys(json.metadata).length, 40);
    assert.equal((await vault.logOf(id)).filter(({ operation }) => operation === 'update').length, 40);
  });

  it('moves and deletes of one token at once leave counters that a recount confirms', async () => {
    const tokens = await times(10, (n) => vault.make({ data: n, containers: ['/from/'] }));
    await Promise.all(
      tokens.flatMap(({ id }, n) => [
        vault.send('PATCH', pathOf(id), { containers: [`/to/${n}/`] }),
        vault.send('DELETE', pathOf(id)),
        vault.send('PATCH', pathOf(id), { containers: ['/back/'] }),
      ]),
    );
    for (const { id } of tokens) assert.equal((await vault.send('GET', pathOf(id))).status, 404);
    await vault.assertCountersTrue();
    const { rows } = await vault.app.db.owner.query('SELECT 1 FROM tokens WHERE tenant_id = $1 AND id = ANY ($2)', [
      vault.tenant.id,
      tokens.map(({ id }) => id),
    ]);
    assert.equal(rows.length, 0);
  });

  it('a patch that meets the removal of verification codes is kept, and the code is gone', async () => {
    const cards = await times(20, () => vault.make({ type: 'card', data: CARD, metadata: {} }));
    vault.clock.advance(HOUR_MS);
    const [answers] = await Promise.all([
      Promise.all(cards.map(({ id }) => vault.send('PATCH', pathOf(id), { metadata: { kept: 'yes' } }))),
      sweepCvcs(vault.sweeping, vault.clock.nowMs()),
    ]);
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 20 });
    for (const { id } of cards) {
      const { json } = await vault.send('GET', pathOf(id));
      assert.deepEqual([json.metadata, json.data.cvc], [{ kept: 'yes' }, undefined]);
    }
    await vault.assertCountersTrue();
  });

  /** Opens a token inside a transaction; what is asked for in one turn of the event loop shares one. */
  function inBatch(
    id: string,
    work: (tx: TenantTx, token: OpenRow, keys: TenantKeys) => Promise<void>,
  ): Promise<boolean> {
    const { opener, database } = vault.sweeping;
    return database.write(vault.tenant.id, async (tx) => {
      const keys = await opener.keysOf(vault.tenant.id);
      const token = await opener.lock(tx, id, vault.clock.nowMs());
      if (token) await work(tx, token, keys);
      return token !== undefined;
    });
  }

  it('two changes of one token that share a transaction: both are made, one upon the other', async () => {
    const { id } = await vault.make({ data: 'kept', metadata: {} });
    const mark = (name: string) =>
      inBatch(id, (tx, token, keys) => {
        const content = { ...token.content, metadata: { ...token.content.metadata, [name]: 'yes' } };
        const rowKey = { tenant_id: tx.tenantId, id, data_version: token.row.data_version + 1 };
        const row = { ...token.row, ...rowKey, sealed: sealContent(keys, rowKey, content) };
        return writeChange(tx, operatorContext(vault.clock.nowMs()), token, { content, row }, TOKEN_EVENTS.updated);
      });
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(mark)), [true, true, true]);
    assert.deepEqual((await vault.send('GET', pathOf(id))).json.metadata, { a: 'yes', b: 'yes', c: 'yes' });
  });

  it('two removals of one token that share a transaction: one of them finds it', async () => {
    const { id } = await vault.make({ data: 'kept' });
    const remove = () =>
      inBatch(id, (tx, token) => removeTokens(tx, operatorContext(vault.clock.nowMs()), [token], TOKEN_EVENTS.deleted));
    assert.deepEqual(tally((await times(5, remove)).map(String)), { true: 1, false: 4 });
    assert.equal((await vault.logOf(id)).filter(({ operation }) => operation === 'delete').length, 1);
    await vault.assertCountersTrue();
  });
});
