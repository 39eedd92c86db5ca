import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, SENT } from './resource.js';
import type { Subject } from './subject.js';
import type { Token, Vault } from './vault.js';
import { CARD, listed, logged, openVault, post, UUID } from './vault.js';

const TOKENS_MAX = 100;

function suite(subject: () => Subject): void {
  let vault: Vault;
  const call = (path: string, body: unknown, sent: Sent = {}) =>
    subject().call('POST', path, { key: vault.full, body, ...sent });
  const total = async (): Promise<number | undefined> =>
    listed(await subject().call('GET', '/tokens?size=1', { key: vault.full })).pagination.total_items;

  describe('POST /tokenize', () => {
    before(async () => {
      vault = await openVault(subject());
    });

    it('200 in the shape of the body: tokens for objects that are tokens, ids for values, null stays', async () => {
      const answer = await call('/tokenize', {
        card: { type: 'card', data: CARD, metadata: { a: 'b' } },
        list: ['text', 7, true, null, { deep: 'deeper' }],
      });
      assert.equal(answer.status, 200);
      const { card, list } = answer.as<{ card: Token; list: [string, string, string, null, { deep: string }] }>();
      assert.deepEqual([card.type, card.data, card.metadata], ['card', CARD, { a: 'b' }]);
      const [text, number, truth, nothing, { deep }] = list;
      assert.equal(nothing, null);
      for (const id of [text, number, truth, deep]) assert.match(id, UUID);
      const back = await call(
        '/detokenize',
        list.map((id) => (typeof id === 'string' ? `{{ ${id} }}` : null)),
      );
      assert.deepEqual(back.as(), ['text', 7, true, null, null]);
      assert.deepEqual(await logged(subject(), card.id), ['card create: Token created']);
    });

    it('200 for a value alone, and for what makes no token', async () => {
      assert.match((await call('/tokenize', 'alone')).as<string>(), UUID);
      assert.deepEqual((await call('/tokenize', { none: null, empty: [] })).as(), { none: null, empty: [] });
    });

    it('400, 403 and 409 for one that cannot be made, at its path, and then none is made', async () => {
      const { id } = await post<Token>(subject().call, vault.full, '/tokens', { data: 'there' });
      const before = await total();
      const wrong = await call('/tokenize', { good: 'value', bad: [{ type: 'card', data: { number: '1' } }] });
      const { errors } = assertProblem(wrong, 400, 'validation_failed');
      for (const path of Object.keys(errors ?? {})) assert.match(path, /^bad\[0\]/);
      const taken = await call('/tokenize', { good: 'value', bad: { type: 'token', data: 1, id } });
      assertProblem(taken, 409, 'token_id_conflict');
      const twice = { type: 'token', data: 1, id: `twice-${Date.now()}` };
      assertProblem(await call('/tokenize', [twice, twice]), 409, 'token_id_conflict');
      const closed = { good: { type: 'card', data: CARD }, bad: 'general' };
      assertProblem(await call('/tokenize', closed, { key: vault.cards }), 403, 'access_denied');
      const many = Array.from({ length: TOKENS_MAX + 1 }, (_, n) => n);
      assertProblem(await call('/tokenize', many), 400, 'too_many_tokens');
      assert.equal(await total(), before);
    });

    it('the first answer again under an idempotency key', async () => {
      const headers = { 'SVC-IDEMPOTENCY-KEY': 'tokenize-once' };
      const first = await call('/tokenize', ['a', 'b'], { headers });
      const before = await total();
      assert.equal((await call('/tokenize', ['c'], { headers })).text, first.text);
      assert.equal(await total(), before);
    });
  });

  describe('POST /detokenize', () => {
    let id: string;
    let cardId: string;
    before(async () => {
      vault = await openVault(subject());
      id = (await post<Token>(subject().call, vault.full, '/tokens', { data: { a: [1, 'two'] } })).id;
      cardId = (await post<Token>(subject().call, vault.full, '/tokens', { type: 'card', data: CARD })).id;
    });

    it('200 with values in place of expressions, their JSON types kept, text around them joined', async () => {
      const body = {
        whole: `{{ ${id} }}`,
        part: `{{ ${id} | json: "$.a[1]" }}`,
        text: `number {{ ${cardId} | json: "$.number" | last4 }}!`,
        token: `{{ token: ${cardId} | json: "$.type" }}`,
        plain: ['untouched', 1, null, true],
      };
      const answer = await call('/detokenize', body);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.as(), {
        whole: { a: [1, 'two'] },
        part: 'two',
        text: 'number 4242!',
        token: 'card',
        plain: ['untouched', 1, null, true],
      });
    });

    it('200 with what the caller may see: the mask; 403 where that is nothing, or where no rule grants it', async () => {
      const masked = await call('/detokenize', [`{{ ${cardId} | json: "$.number" }}`], { key: vault.plain });
      assert.deepEqual(masked.as(), ['XXXXXXXXXXXX4242']);
      for (const key of [vault.plain, vault.cards]) {
        assertProblem(await call('/detokenize', [`{{ ${id} }}`], { key }), 403, 'access_denied');
      }
    });

    it('400 for unknown tokens, naming them, also for those of another tenant; for expressions that fail', async () => {
      const { detail } = assertProblem(await call('/detokenize', ['{{ nobody-here }}']), 400, 'unknown_token');
      assert.ok(detail.includes('nobody-here'));
      const theirs = await call('/detokenize', [`{{ ${id} }}`], { key: vault.stranger });
      assertProblem(theirs, 400, 'unknown_token');
      for (const text of [`{{ ${id} | nonsense }}`, `{{ ${id} `, `{{ ${id} | to_number }}`]) {
        const { errors } = assertProblem(await call('/detokenize', { at: [text] }), 400, 'invalid_expression');
        assert.deepEqual(Object.keys(errors ?? {}), ['at[0]'], text);
      }
      const many = Array.from({ length: TOKENS_MAX + 1 }, (_, n) => `{{ unknown-${n} }}`);
      assertProblem(await call('/detokenize', many), 400, 'too_many_tokens');
    });

    it('the log names each token once a request', async () => {
      const made = await post<Token>(subject().call, vault.full, '/tokens', { data: 'logged' });
      await call('/detokenize', [`{{ ${made.id} }}`, `again {{ ${made.id} }}`]);
      assert.deepEqual(await logged(subject(), made.id), [
        'token create: Token created',
        'token read: Token detokenized',
      ]);
    });
  });
}

export const tokenize: Resource = {
  endpoints: [
    endpoint(['POST', '/tokenize'], 'token:create', 200, [...SENT, 409], { sent: 'value' }),
    endpoint(['POST', '/detokenize'], 'token:read', 200, SENT, { sent: 'text' }),
  ],
  suite,
};
