import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR_MS } from '../../jobs/job-record.js';
import type { Answer } from '../../testing/http-client.js';
import { openVault, type TestVault, tally, times, vaultOf, writesNothing } from './vault-fixture.js';

/** A change that runs twice was in a batch that somebody else had undone: the neighbour paid for another's refusal. */
describe('a change that is refused, beside the changes of a neighbour', () => {
  let vault: TestVault;
  let neighbour: TestVault;
  before(async () => {
    // One lane, so that all changes meet.
    vault = await openVault({ STRONGROOM_DATABASE_WRITE_CONNECTIONS_MAX: '1' });
    neighbour = await vaultOf(vault.app, vault.clock);
    await vault.make({ id: 'taken', data: 'first' });
  });
  after(() => vault.app.close());

  /** Sends requests with changes of the neighbour in between, and gives their answers with how often those ran. */
  async function beside(count: number, send: (n: number) => Promise<Answer>) {
    let runs = 0;
    const change = () =>
      neighbour.app.database.write(neighbour.tenant.id, async () => {
        runs += 1;
      });
    let isOver = false;
    // Many at a time, so that some always wait for a lane and what comes meanwhile joins them.
    const changes = times(24, async () => {
      let made = 0;
      for (; !isOver; made += 1) await change();
      return made;
    });
    const answers = await times(count, send);
    isOver = true;
    const made = (await changes).reduce((sum, each) => sum + each, 0);
    return { answers, reruns: runs - made };
  }

  const statuses = (answers: readonly Answer[]) => tally(answers.map(({ status }) => status));

  it('409 for creates under a taken id, and no change of the neighbour runs twice', async () => {
    const { answers, reruns } = await beside(60, () => vault.send('POST', '/tokens', { id: 'taken', data: 'second' }));
    assert.deepEqual(statuses(answers), { 409: 60 });
    assert.equal(reruns, 0);
    assert.deepEqual(answers[0]?.json.errors, { id: ['is taken'] });
  });

  it('409 for /tokenize with a taken id among others, by its path; none is made and nobody runs twice', async () => {
    const body = { a: 'fine', b: [{ type: 'token', id: 'taken', data: 1 }] };
    const { answers, reruns } = await beside(40, () => vault.send('POST', '/tokenize', body));
    assert.deepEqual(statuses(answers), { 409: 40 });
    assert.deepEqual(answers[0]?.json.errors, { 'b[0].id': ['is taken'] });
    assert.equal(reruns, 0);
  });

  it('409 for /tokenize that names an id twice: none is made and nobody runs twice', async () => {
    const token = { type: 'token', id: 'named-twice', data: 1 };
    await writesNothing(vault.app, async () => {
      const { answers, reruns } = await beside(20, () => vault.send('POST', '/tokenize', [token, token]));
      assert.deepEqual(statuses(answers), { 409: 20 });
      assert.deepEqual(answers[0]?.json.errors, { '[1].id': ['is taken'] });
      assert.equal(reruns, 0);
    });
  });

  it('201 once for creates that race for a free id, 409 for the rest, and nobody runs twice', async () => {
    for (const round of [1, 2, 3]) {
      const { answers, reruns } = await beside(30, () =>
        vault.send('POST', '/tokens', { id: `raced-${round}`, data: 1 }),
      );
      assert.deepEqual(statuses(answers), { 201: 1, 409: 29 });
      assert.equal(reruns, 0);
    }
    await vault.assertCountersTrue();
  });

  it('204 once for deletes of one token, 404 for the rest, and nobody runs twice', async () => {
    await vault.make({ id: 'deleted-by-many', data: 1 });
    const { answers, reruns } = await beside(30, () => vault.send('DELETE', '/tokens/deleted-by-many'));
    assert.deepEqual(statuses(answers), { 204: 1, 404: 29 });
    assert.equal(reruns, 0);
  });

  it('200 or 404 for changes of a token that is deleted meanwhile, and nobody runs twice', async () => {
    await vault.make({ id: 'changed-and-deleted', data: { n: 0 } });
    const { answers, reruns } = await beside(30, (n) =>
      n === 5
        ? vault.send('DELETE', '/tokens/changed-and-deleted')
        : vault.send('PATCH', '/tokens/changed-and-deleted', { data: { n } }),
    );
    const { 200: changed = 0, 204: deleted, 404: late = 0 } = statuses(answers);
    assert.deepEqual([changed + late, deleted], [29, 1]);
    assert.equal(reruns, 0);
    await vault.assertCountersTrue();
  });

  it('201 under the id of a token whose time is over, though it was not swept yet', async () => {
    const expires_at = new Date(vault.clock.nowMs() + HOUR_MS).toISOString();
    await vault.make({ id: 'short-lived', data: 'old', expires_at });
    assert.equal((await vault.send('POST', '/tokens', { id: 'short-lived', data: 'new' })).status, 409);
    vault.clock.advance(HOUR_MS);
    assert.equal((await vault.send('POST', '/tokens', { id: 'short-lived', data: 'new' })).status, 201);
    assert.equal((await vault.send('POST', '/tokens', { id: 'short-lived', data: 'newer' })).status, 409);
    await vault.assertCountersTrue();
  });

  it('201 under an id that another tenant has', async () => {
    assert.equal((await neighbour.send('POST', '/tokens', { id: 'taken', data: 'mine' })).status, 201);
  });
});
