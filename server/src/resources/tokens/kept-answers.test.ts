import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR_MS } from '../../jobs/job-record.js';
import { keptRows } from '../../testing/keyed-puts.js';
import { sweepExpiredTokens } from '../../vault/expiry/sweep.js';
import {
  CARD,
  cardNumber,
  openVault,
  pathOf,
  rule,
  type TestVault,
  VAULT_PERMISSIONS,
  writesNothing,
} from './vault-fixture.js';

const keyed = (key: string) => ({ headers: { 'SVC-IDEMPOTENCY-KEY': key } });
const MEBIBYTE = 1_048_576;

describe('a kept answer that shows tokens', () => {
  let vault: TestVault;
  before(async () => {
    vault = await openVault();
  });
  after(() => vault.app.close());

  /** The 409 that says only that the first request succeeded, while nothing is written. */
  async function assertNotKept(path: string, body: unknown, idempotencyKey: string, key = vault.key): Promise<void> {
    const method = path === '/tokens' || path === '/tokenize' ? 'POST' : 'PATCH';
    const again = await writesNothing(vault.app, () =>
      vault.send(method, path, body, { ...keyed(idempotencyKey), key }),
    );
    assert.deepEqual([again.status, again.json.code], [409, 'idempotency_answer_not_kept']);
    assert.doesNotMatch(again.text, /42424242/);
  }

  describe('when rights have changed since', () => {
    /** A private Application of its own, to change the rights of. */
    async function makeReader() {
      const { id, key } = await vault.app.makeApplication(vault.tenant.id, 'private', [], [rule('reveal')]);
      const grant = async (rights: object) => {
        const options = { key: vault.tenant.key, body: { name: 'Reader', ...rights } };
        assert.equal((await vault.app.call('PUT', `/applications/${id}`, options)).status, 200);
      };
      return { key, grant };
    }

    for (const [circumstance, rights] of [
      ['only masks are shown now', { rules: [rule('mask')] }],
      ['nothing is shown now', { rules: [rule('redact')] }],
      ['its rule covers another container now', { rules: [rule('reveal', '/bank/')] }],
      ['a plain permission is left', { permissions: VAULT_PERMISSIONS }],
    ] as const) {
      it(`409 where ${circumstance}, nothing of the data, and the answer again when the rights are back`, async () => {
        const { key, grant } = await makeReader();
        const body = { type: 'card', data: CARD };
        const first = await vault.send('POST', '/tokens', body, { ...keyed('rights'), key });
        assert.equal(first.json.data.number, CARD.number);
        await grant(rights);
        await assertNotKept('/tokens', body, 'rights', key);
        await grant({ rules: [rule('reveal')] });
        assert.equal((await vault.send('POST', '/tokens', body, { ...keyed('rights'), key })).text, first.text);
      });
    }

    it('403 once the permission is gone, and 201 again after a change that is none of its rights', async () => {
      const { key, grant } = await makeReader();
      const create = () => vault.send('POST', '/tokens', { data: 'mine' }, { ...keyed('name'), key });
      const first = await create();
      await grant({ rules: [rule('reveal')], name: 'Renamed' });
      assert.equal((await create()).text, first.text);
      await grant({ rules: [rule('reveal', '/', ['token:read'])] });
      const { status, json } = await create();
      assert.deepEqual([status, json.code], [403, 'permission_denied']);
    });
  });

  describe('when a token in it is gone', () => {
    const empties = async () =>
      (await keptRows(vault.app, vault.tenant.id)).filter(({ sealed }) => sealed.length === 0);

    it('409 after DELETE, and nothing of the answer is stored any more; other answers stay', async () => {
      const body = { type: 'card', data: CARD };
      const [gone, stays] = [
        await vault.send('POST', '/tokens', body, keyed('gone')),
        await vault.send('POST', '/tokens', body, keyed('stays')),
      ];
      const before = (await empties()).length;
      assert.equal((await vault.send('DELETE', pathOf(gone.json.id))).status, 204);
      assert.equal((await empties()).length, before + 1);
      await assertNotKept('/tokens', body, 'gone');
      assert.equal((await vault.send('POST', '/tokens', body, keyed('stays'))).text, stays.text);
    });

    it('409 for a tokenize of several once one of them is gone, and for a patch of it; ids of the caller’s too', async () => {
      const body = ['a', { type: 'card', data: CARD, id: 'weird id:1' }];
      assert.equal((await vault.send('POST', '/tokenize', body, keyed('several'))).status, 200);
      const patch = { metadata: { a: 'b' } };
      assert.equal((await vault.send('PATCH', pathOf('weird id:1'), patch, keyed('patched'))).status, 200);
      await vault.send('DELETE', pathOf('weird id:1'));
      await assertNotKept('/tokenize', body, 'several');
      await assertNotKept(pathOf('weird id:1'), patch, 'patched');
    });

    it('409 from the moment a token expires, before anybody sweeps; the sweep empties it', async () => {
      // Before the verification codes of other cards are due, which the product itself removes in the background.
      const lifetimeMs = HOUR_MS / 2;
      const expires_at = new Date(vault.clock.nowMs() + lifetimeMs).toISOString();
      const body = { data: 'short', expires_at };
      const first = await vault.send('POST', '/tokens', body, keyed('short'));
      const before = (await empties()).length;
      vault.clock.advance(lifetimeMs - 1);
      assert.equal((await vault.send('POST', '/tokens', body, keyed('short'))).text, first.text);
      vault.clock.advance(1);
      await assertNotKept('/tokens', body, 'short');
      await sweepExpiredTokens(vault.sweeping, vault.clock.nowMs());
      assert.equal((await empties()).length, before + 1);
    });

    it('409 once a token is moved, or has another end, by whoever may', async () => {
      const key = await vault.keyWith([rule('reveal', '/pci/')]);
      for (const [name, change] of [
        ['moved', { containers: ['/locked/'] }],
        ['ending', { expires_at: new Date(vault.clock.nowMs() + 1_500).toISOString() }],
      ] as const) {
        const body = { type: 'card', data: CARD };
        const first = await vault.send('POST', '/tokens', body, { ...keyed(name), key });
        assert.equal(first.status, 201);
        assert.equal((await vault.send('PATCH', pathOf(first.json.id), change)).status, 200);
        await assertNotKept('/tokens', body, name, key);
      }
    });

    it('409 after a deletion that met the create which was led to the token, whichever came first', async () => {
      await vault.setTenant({ deduplicate_tokens: 'true' });
      let shown = 0;
      for (let round = 0; round < 40; round += 1) {
        const body = { type: 'card', data: { number: cardNumber(5_000 + round) } };
        const { id } = await vault.make(body);
        const create = () => vault.send('POST', '/tokens', body, keyed(`race-${round}`));
        // A little later in each round, so that both are overtaken by the other whatever the machine does besides.
        const remove = async () => {
          for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
          return vault.send('DELETE', pathOf(id));
        };
        const [made, gone] = await Promise.all([create(), remove()]);
        assert.equal(gone.status, 204, gone.text);
        if (made.json.id !== id) continue;
        shown += 1;
        assert.equal((await vault.send('GET', pathOf(id))).status, 404);
        await assertNotKept('/tokens', body, `race-${round}`);
      }
      assert.ok(shown > 0, 'some creates were led to a token that went');
      await vault.setTenant({ deduplicate_tokens: 'false' });
    });

    it('a token of the same id in another tenant takes nothing away', async () => {
      const other = await vault.app.makeTenant();
      const key = await vault.app.makeKey(other.id, 'private', [], [rule('reveal')]);
      const body = { id: 'same-id', data: 'mine' };
      const first = await vault.send('POST', '/tokens', body, keyed('same'));
      assert.equal((await vault.app.call('POST', '/tokens', { key, body })).status, 201);
      assert.equal((await vault.app.call('DELETE', '/tokens/same-id', { key })).status, 204);
      assert.equal((await vault.send('POST', '/tokens', body, keyed('same'))).text, first.text);
    });

    it('two deletions of tokens in the same answers, over two lanes and in opposite order, both succeed', async () => {
      const ids = Array.from({ length: 40 }, (_, n) => `crossed-${n}`);
      for (let n = 0; n < 20; n += 1) {
        const pair = [n, 39 - n].map((at) => ({ type: 'token', data: 'x', id: ids[at] }));
        assert.equal((await vault.send('POST', '/tokenize', pair, keyed(`crossed-${n}`))).status, 200);
      }
      const answers = await Promise.all(ids.map((id) => vault.send('DELETE', pathOf(id))));
      assert.ok(answers.every(({ status }) => status === 204));
      await assertNotKept('/tokenize', [], 'crossed-0');
      await assertNotKept('/tokenize', [], 'crossed-19');
    });
  });

  describe('of more than a mebibyte', () => {
    it('201 the first time and 409 again, done once; one of exactly a mebibyte is kept', async () => {
      const { id } = await vault.make({ data: 'x'.repeat(MEBIBYTE - 1_500) });
      const patch = (length: number, options = {}) =>
        vault.send('PATCH', pathOf(id), { metadata: { fill: 'x'.repeat(length) } }, options);
      const room = MEBIBYTE - (await patch(0)).text.length;
      const first = await patch(room, keyed('just'));
      assert.deepEqual([first.status, first.text.length], [200, MEBIBYTE]);
      assert.equal((await patch(room, keyed('just'))).text, first.text);
      assert.equal((await patch(room + 1, keyed('over'))).text.length, MEBIBYTE + 1);
      await assertNotKept(pathOf(id), {}, 'over');
    });
  });
});
