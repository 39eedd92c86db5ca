import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Sent } from './client.js';
import { assertProblem } from './client.js';
import type { Endpoint } from './resource.js';
import { endpoint, LIST, ONE, SENT } from './resource.js';
import type { Subject } from './subject.js';
import type { Token, Vault } from './vault.js';
import { listed, logged, openVault, post } from './vault.js';

interface Accepted {
  readonly asyncReactorRequestId: string;
}

const CODE =
  'module.exports = async ({ args }) => { if (args.fails) throw new Error("told"); return { raw: args, tokenize: { a: "b" } }; };';
const POLL_MS = 100;
const TRIES = 300;
const ONE_SENT = [...SENT, 404];

const run = (path: string, needs: string, success: number, refusals: readonly number[], body: unknown): Endpoint => ({
  ...endpoint(['POST', path], needs, success, refusals, body),
  hasManyValues: true,
});

export const RUN_ENDPOINTS: readonly Endpoint[] = [
  run('/reactors/{id}/react', 'token:use', 200, ONE_SENT, {}),
  run('/reactors/{id}/react-async', 'token:use', 202, ONE_SENT, {}),
  run('/reactors/{id}/test', 'reactor:update', 200, ONE_SENT, {}),
  run('/reactors/test', 'reactor:update', 200, SENT, { code: CODE }),
  endpoint(['GET', '/reactors/{id}/results/{request_id}'], 'token:use', 200, ONE),
  endpoint(['GET', '/reactors/{id}/requests'], 'reactor:read', 200, [...LIST, 404]),
  endpoint(['POST', '/reactors/{id}/requests/{request_id}/retry'], 'reactor:update', 200, ONE),
  endpoint(['POST', '/reactors/{id}/requests/{request_id}/cancel'], 'reactor:update', 200, ONE),
];

export function reactorRuns(subject: () => Subject): void {
  let vault: Vault;
  let id: string;
  const manage = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: subject().keys.management, ...sent });
  const use = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: vault.full, ...sent });

  describe('reactors that run', () => {
    before(async () => {
      vault = await openVault(subject());
      const made = { name: 'Runs', code: CODE };
      ({ id } = await post<{ id: string }>(subject().call, subject().keys.management, '/reactors', made));
    });

    it('200 with what the code answers, on the values of tokens, and both are in the log', async () => {
      const { id: token } = await post<Token>(subject().call, vault.full, '/tokens', { data: 'given' });
      const answer = await use('POST', `/reactors/${id}/react`, { body: { args: { value: `{{ ${token} }}` } } });
      assert.equal(answer.status, 200, answer.text);
      const { raw, tokens } = answer.as<{ raw: unknown; tokens: { a: string } }>();
      assert.deepEqual(raw, { value: 'given' });
      assert.equal((await use('GET', `/tokens/${tokens.a}`)).as<Token>().data, 'b');
      assert.deepEqual((await logged(subject(), token)).at(-1), 'token use: Token used in reactor');
      assert.deepEqual((await logged(subject(), id)).at(-1), 'reactor use: Reactor invoked');
      assert.equal((await manage('GET', `/reactors/${id}/metrics`)).status, 200);
    });

    it('the error of the code, as a problem', async () => {
      const answer = await use('POST', `/reactors/${id}/react`, { body: { args: { fails: true } } });
      assert.deepEqual(assertProblem(answer, 500, 'reactor_error').errors, { error: ['told'] });
    });

    it('200 for code that is tried, and nothing is kept of it', async () => {
      for (const [path, body] of [
        [`/reactors/${id}/test`, { args: { n: 1 } }],
        ['/reactors/test', { code: CODE, args: { n: 1 } }],
      ] as const) {
        const answer = await manage('POST', path, { body });
        assert.equal(answer.status, 200, answer.text);
        const { raw, tokenize } = answer.as<{ raw: unknown; tokenize: unknown }>();
        assert.deepEqual([raw, tokenize], [{ n: 1 }, { a: 'b' }]);
      }
    });

    it('202 for a call that is answered later; its result is its caller’s alone, and it can be tried and ended', async () => {
      const accepted = await use('POST', `/reactors/${id}/react-async`, { body: { args: { n: 2 } } });
      assert.equal(accepted.status, 202, accepted.text);
      const { asyncReactorRequestId: requestId } = accepted.as<Accepted>();
      const path = `/reactors/${id}/results/${requestId}`;
      let answer = await use('GET', path);
      for (let tries = 0; answer.status === 404 && tries < TRIES; tries += 1) {
        await wait(POLL_MS);
        answer = await use('GET', path);
      }
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.as<{ raw: unknown }>().raw, { n: 2 });
      listed(await manage('GET', `/reactors/${id}/requests`));
      assertProblem(await manage('GET', `/reactors/${id}/requests?size=0`), 400, 'validation_failed');
      for (const act of ['retry', 'cancel']) {
        assert.equal((await manage('POST', `/reactors/${id}/requests/${requestId}/${act}`)).status, 200);
      }
    });
  });
}
