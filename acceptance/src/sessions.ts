import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, ONE, SENT } from './resource.js';
import type { Subject } from './subject.js';
import type { Session, Token, Vault } from './vault.js';
import { CARD, DATE, listed, logged, openVault, post, UUID } from './vault.js';

function suite(subject: () => Subject): void {
  let vault: Vault;
  const open = (): Promise<Session> => post(subject().call, vault.public, '/sessions');
  const authorize = (body: object, key = vault.full) =>
    subject().call('POST', '/sessions/authorize', { key, body: { permissions: ['token:read'], ...body } });

  describe('sessions', () => {
    before(async () => {
      vault = await openVault(subject());
    });

    it('201 with exactly the fields, good for three minutes, without rights yet', async () => {
      const beforeMs = Date.now();
      const answer = await subject().call('POST', '/sessions', { key: vault.public });
      assert.equal(answer.status, 201);
      assert.equal(answer.headers.get('location'), null, 'it cannot be read');
      const { id, session_key, nonce, expires_at, ...rest } = answer.as<Session>();
      assert.deepEqual(rest, {});
      assert.match(id, UUID);
      assert.match(session_key, /^key_ses_[0-9A-Za-z]{32}$/);
      assert.match(nonce, /^[0-9A-Za-z]{22}$/);
      assert.match(expires_at, DATE);
      assert.ok(Math.abs(Date.parse(expires_at) - beforeMs - 180_000) < 60_000);
      assertProblem(await subject().call('GET', '/tokens', { key: session_key }), 403, 'permission_denied');
      assert.equal((await subject().call('GET', '/permissions', { key: session_key })).status, 200);
    });

    it('201 for every form of an empty body', async () => {
      const forms: readonly Sent[] = [
        { raw: '', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
        { raw: '' },
        { body: {} },
      ];
      for (const sent of forms) {
        assert.equal((await subject().call('POST', '/sessions/', { key: vault.public, ...sent })).status, 201);
      }
    });

    it('200 without a body for authorizing: the key may do what was granted, and nothing else', async () => {
      const { id, session_key, nonce } = await open();
      const answer = await authorize({ nonce });
      assert.deepEqual([answer.status, answer.text], [200, '']);
      const card = await post<Token>(subject().call, vault.full, '/tokens', { type: 'card', data: CARD });
      const { call } = subject();
      const seen = await call('GET', `/tokens/${card.id}`, { key: session_key });
      assert.equal((seen.as<Token>().data as typeof CARD).number, 'XXXXXXXXXXXX4242');
      assertProblem(await call('DELETE', `/tokens/${card.id}`, { key: session_key }), 403, 'permission_denied');
      assertProblem(await call('GET', '/applications/key', { key: session_key }), 403, 'wrong_application_type');
      assert.deepEqual(await logged(subject(), id), [
        'session create: Session created',
        'session authorize: Session authorized',
      ]);
      const entries = await call('GET', `/logs?entity_id=${card.id}&size=1`, { key: subject().keys.management });
      const [entry] = listed<{ actor_type: string; actor_id: string }>(entries).data;
      assert.deepEqual([entry?.actor_type, entry?.actor_id], ['session', id]);
    });

    it('200 with rules and conditions: only the token they name', async () => {
      const [mine, other] = [
        await post<Token>(subject().call, vault.full, '/tokens', { data: 'mine' }),
        await post<Token>(subject().call, vault.full, '/tokens', { data: 'other' }),
      ];
      const { session_key, nonce } = await open();
      const conditions = [{ attribute: 'id', operator: 'equals', value: mine.id }];
      const rules = [{ priority: 1, conditions, transform: 'reveal', permissions: ['token:read'] }];
      assert.equal((await authorize({ nonce, permissions: [], rules })).status, 200);
      const { call } = subject();
      assert.equal((await call('GET', `/tokens/${mine.id}`, { key: session_key })).as<Token>().data, 'mine');
      assertProblem(await call('GET', `/tokens/${other.id}`, { key: session_key }), 403, 'access_denied');
      assert.equal(listed(await call('GET', '/tokens', { key: session_key })).pagination.total_items, 1);
    });

    it('never more than the application that authorized it', async () => {
      const { data } = await post<Token>(subject().call, vault.full, '/tokens', { data: 'general' });
      assert.equal(data, 'general');
      const { session_key, nonce } = await open();
      assert.equal((await authorize({ nonce }, vault.cards)).status, 200);
      const seen = listed<Token>(await subject().call('GET', '/tokens?size=100', { key: session_key })).data;
      assert.ok(seen.every(({ containers }) => containers.some((path) => path.startsWith('/pci/'))));
    });

    it('400 for rights that cannot be granted, a nonce that is none and an end too far, naming the field', async () => {
      const { nonce } = await open();
      const tooFar = new Date(Date.now() + 25 * 3_600_000).toISOString();
      for (const [field, body] of [
        ['nonce', { nonce: null }],
        ['nonce', { nonce: 'short' }],
        ['permissions', { nonce, permissions: [] }],
        ['permissions', { nonce, permissions: ['tenant:read'] }],
        ['expires_at', { nonce, expires_at: tooFar }],
        ['expires_at', { nonce, expires_at: '2020-01-01' }],
      ] as const) {
        const { errors } = assertProblem(await authorize(body), 400, 'validation_failed');
        assert.deepEqual(Object.keys(errors ?? {}), [field], JSON.stringify(body));
      }
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      assert.equal((await authorize({ nonce, expires_at })).status, 200, 'none of that used the nonce up');
    });

    it('404 for a nonce nobody has or another tenant has, 409 for one that was used', async () => {
      assertProblem(await authorize({ nonce: 'a'.repeat(22) }), 404, 'not_found');
      const { nonce } = await open();
      assertProblem(await authorize({ nonce }, vault.stranger), 404, 'not_found');
      assert.equal((await authorize({ nonce })).status, 200);
      assertProblem(await authorize({ nonce }), 409, 'session_already_authorized');
      assertProblem(await authorize({ nonce }, vault.plain), 409, 'session_already_authorized');
    });

    it('204 for ending it with a key of either Application: 401 from then on, an entry, and 404 to all others', async () => {
      const { call, keys } = subject();
      for (const key of [vault.public, vault.full]) {
        const { id, session_key, nonce } = await open();
        assert.equal((await authorize({ nonce })).status, 200);
        for (const other of [vault.plain, vault.stranger, keys.management]) {
          assertProblem(await call('DELETE', `/sessions/${id}`, { key: other }), 404, 'not_found');
        }
        const own = await call('DELETE', `/sessions/${id}`, { key: session_key });
        assertProblem(own, 403, 'wrong_application_type');
        assert.equal((await call('GET', '/tokens', { key: session_key })).status, 200);
        const ended = await call('DELETE', `/sessions/${id}`, { key });
        assert.deepEqual([ended.status, ended.text], [204, '']);
        assertProblem(await call('GET', '/tokens', { key: session_key }), 401, 'invalid_api_key');
        assertProblem(await call('DELETE', `/sessions/${id}`, { key }), 404, 'not_found');
        assert.equal((await logged(subject(), id)).at(-1), 'session delete: Session ended');
      }
    });

    it('401 once the key that authorized it is regenerated or revoked; sessions of other keys go on', async () => {
      const { call, keys } = subject();
      const made = { name: 'Backend', type: 'private', permissions: ['token:read'] };
      const backend = await post<{ id: string; key: string }>(call, keys.management, '/applications', made);
      const further = await post<{ id: string; key: string }>(
        call,
        keys.management,
        `/applications/${backend.id}/keys`,
      );
      const openWith = async (key: string): Promise<Session> => {
        const session = await open();
        assert.equal((await authorize({ nonce: session.nonce }, key)).status, 200);
        return session;
      };
      const [first, second] = [await openWith(backend.key), await openWith(further.key)];
      const statuses = async () =>
        Promise.all(
          [first, second].map(async (one) => (await call('GET', '/tokens', { key: one.session_key })).status),
        );
      assert.deepEqual(await statuses(), [200, 200]);
      await call('DELETE', `/applications/${backend.id}/keys/${further.id}`, { key: keys.management });
      assert.deepEqual(await statuses(), [200, 401]);
      const overlap = { overlap_seconds: 3_600 };
      await post(call, keys.management, `/applications/${backend.id}/regenerate`, overlap);
      assert.deepEqual(await statuses(), [200, 401], 'an overlap is one for its sessions too');
      await post(call, keys.management, `/applications/${backend.id}/regenerate`);
      assert.deepEqual(await statuses(), [401, 401]);
      for (const { id } of [first, second]) {
        assert.equal((await logged(subject(), id)).at(-1), 'session delete: Session ended');
      }
    });

    it('the first answer again under an idempotency key, also for authorizing', async () => {
      const headers = { 'SVC-IDEMPOTENCY-KEY': 'session-once' };
      const make = () => subject().call('POST', '/sessions', { key: vault.public, headers });
      const [first, again] = [await make(), await make()];
      assert.equal(again.text, first.text);
      const { nonce } = first.as<Session>();
      const allow = () =>
        subject().call('POST', '/sessions/authorize', {
          key: vault.full,
          headers,
          body: { nonce, permissions: ['token:read'] },
        });
      assert.deepEqual([(await allow()).status, (await allow()).status], [200, 200]);
    });
  });
}

const NONCE_SENT = 'abcdefghijklmnopqrstuv';

export const sessions: Resource = {
  endpoints: [
    endpoint(['POST', '/sessions'], 'public application key', 201, SENT, {}),
    endpoint(['POST', '/sessions/authorize'], 'private application key', 200, [...SENT, 404, 409], {
      nonce: NONCE_SENT,
      permissions: ['token:read'],
    }),
    endpoint(['DELETE', '/sessions/{id}'], 'any application key', 204, ONE),
  ],
  suite,
};
