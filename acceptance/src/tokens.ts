import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertConventional, assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, ONE, SENT } from './resource.js';
import type { Subject } from './subject.js';
import type { Token, Vault } from './vault.js';
import { CARD, DATE, logged, openVault, post, UUID } from './vault.js';

function suite(subject: () => Subject): void {
  let vault: Vault;
  const call = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: vault.full, ...sent });
  const make = (body: object, key = vault.full): Promise<Token> => post(subject().call, key, '/tokens', body);
  const get = async (id: string, key = vault.full): Promise<Token> =>
    (await call('GET', `/tokens/${encodeURIComponent(id)}`, { key })).as();

  describe('tokens', () => {
    before(async () => {
      vault = await openVault(subject());
    });

    it('201 with exactly the fields of a generic token and its address', async () => {
      const answer = await call('POST', '/tokens', { body: { data: { any: ['thing', 1, null, true] } } });
      assert.equal(answer.status, 201);
      const { id, tenant_id, created_at, ...rest } = answer.as<Token>();
      for (const one of [id, tenant_id]) assert.match(one, UUID);
      assert.match(created_at, DATE);
      assert.equal(answer.headers.get('location'), `/tokens/${id}`);
      assert.deepEqual(rest, {
        type: 'token',
        data: { any: ['thing', 1, null, true] },
        containers: ['/general/high/'],
        privacy: { classification: 'general', impact_level: 'high', restriction_policy: 'redact' },
        created_by: vault.fullId,
      });
      assert.deepEqual(await get(id), answer.as());
    });

    it('201 with everything a client may set, and it comes back', async () => {
      const set = {
        id: `order ${Date.now()}: é`,
        type: 'card',
        mask: { number: '{{ data.number | reveal_last: 4 }}' },
        containers: ['/pci/test/'],
        metadata: { order: '4711' },
        search_indexes: ['{{ data.number | last4 }}'],
        fingerprint_expression: '{{ data.number }}',
        encryption: { note: 'none' },
      };
      const made = await make({ ...set, data: CARD, expires_at: '2090-01-01', unknown: 1, created_by: 'me' });
      const { data, fingerprint, ...rest } = await get(set.id);
      assert.deepEqual(data, CARD);
      assert.match(fingerprint ?? '', /^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
      for (const [name, value] of Object.entries(set)) assert.deepEqual(Reflect.get(rest, name), value, name);
      assert.equal(Reflect.get(rest, 'expires_at'), '2090-01-01T00:00:00.000+00:00');
      assert.equal(made.created_by, vault.fullId);
      for (const path of [`/tokens/${encodeURIComponent(set.id)}`]) {
        await assertConventional(subject().call, path, vault.full);
        assert.equal((await call('PATCH', path, { body: { metadata: { order: null } } })).status, 200);
        assert.equal((await call('DELETE', path)).status, 204);
      }
    });

    it('shows data as the right of the caller says: whole, masked or not at all', async () => {
      const { id } = await make({ type: 'card', data: CARD });
      const masked = { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2031 };
      assert.deepEqual((await get(id)).data, CARD);
      assert.deepEqual((await get(id, vault.plain)).data, masked);
      const bare = await make({ data: 'no mask' });
      assert.ok(!Object.hasOwn(await get(bare.id, vault.plain), 'data'));
      const fromOutside = await make({ type: 'card', data: CARD }, vault.public);
      assert.deepEqual(fromOutside.data, masked);
    });

    const samples: Record<string, [unknown, unknown]> = {
      card_number: ['4242424242424242', '4242424242424241'],
      bank: [{ routing_number: '021000021', account_number: '00001' }, { routing_number: '021000022' }],
      us_bank_account_number: ['1234567890', '12'],
      us_bank_routing_number: ['021000021', '021000020'],
      social_security_number: ['123-45-6789', '123-456-789'],
      employer_id_number: ['12-3456789', '1-23456789'],
    };
    for (const [type, [good, bad]] of Object.entries(samples)) {
      it(`201 for a ${type}, logged under its type, and 400 for what is none`, async () => {
        const { id, data } = await make({ type, data: good });
        assert.deepEqual(data, good);
        assert.deepEqual(await logged(subject(), id), [`${type} create: Token created`]);
        assertProblem(await call('POST', '/tokens', { body: { type, data: bad } }), 400, 'validation_failed');
      });
    }

    const refused: Record<string, [object, string]> = {
      'without data': [{}, 'data'],
      'with null as data': [{ data: null }, 'data'],
      'of an unknown type': [{ type: 'dragon', data: 1 }, 'type'],
      'with an id that is too short': [{ id: 'ab', data: 1 }, 'id'],
      'with an id that has a slash': [{ id: 'a/b/c', data: 1 }, 'id'],
      'with a container that is no path': [{ data: 1, containers: ['pci'] }, 'containers[0]'],
      'with metadata that is no text': [{ data: 1, metadata: { a: 1 } }, 'metadata.a'],
      'with an end in the past': [{ data: 1, expires_at: '2020-01-01' }, 'expires_at'],
    };
    for (const [what, [body, field]] of Object.entries(refused)) {
      it(`400 for a token ${what}, naming ${field}`, async () => {
        const { errors } = assertProblem(await call('POST', '/tokens', { body }), 400, 'validation_failed');
        assert.deepEqual(Object.keys(errors ?? {}), [field]);
      });
    }

    it('400 for a number that could not be returned unchanged', async () => {
      const answer = await call('POST', '/tokens', { raw: '{"data":9007199254740993}' });
      assertProblem(answer, 400, 'validation_failed');
    });

    it('409 for an id that is taken, and the token there stays; another tenant may use it', async () => {
      const id = `taken-${Date.now()}`;
      await make({ id, data: 'first' });
      assertProblem(await call('POST', '/tokens', { body: { id, data: 'second' } }), 409, 'token_id_conflict');
      assert.equal((await get(id)).data, 'first');
      assert.equal((await make({ id, data: 'theirs' }, vault.stranger)).data, 'theirs');
      assert.equal((await get(id)).data, 'first');
    });

    it('403 access_denied outside the containers of the rules, and nothing is made or changed', async () => {
      const { id } = await make({ data: 'general' });
      const before = await get(id);
      const key = vault.cards;
      const path = `/tokens/${id}`;
      assertProblem(await call('POST', '/tokens', { key, body: { data: 'general' } }), 403, 'access_denied');
      assertProblem(await call('GET', path, { key }), 403, 'access_denied');
      assertProblem(await call('PATCH', path, { key, body: { data: 'x' } }), 403, 'access_denied');
      assertProblem(await call('DELETE', path, { key }), 403, 'access_denied');
      const card = await make({ type: 'card', data: CARD }, key);
      const moved = { containers: ['/general/'] };
      assertProblem(await call('PATCH', `/tokens/${card.id}`, { key, body: moved }), 403, 'access_denied');
      assert.deepEqual(await get(id), before);
    });

    it('200 for a merge patch under both of its types; null removes; what is not named stays', async () => {
      const { id, created_at } = await make({
        data: { keep: 1, drop: 2, deep: { a: 1, b: 2 } },
        metadata: { keep: 'k', drop: 'd' },
      });
      const patch = { data: { drop: null, deep: { b: 3 }, add: [1] }, metadata: { drop: null } };
      const headers = { 'Content-Type': 'application/merge-patch+json' };
      const answer = await call('PATCH', `/tokens/${id}`, { raw: JSON.stringify(patch), headers });
      assert.equal(answer.status, 200);
      const token = answer.as<Token>();
      assert.deepEqual(token.data, { keep: 1, deep: { a: 1, b: 3 }, add: [1] });
      assert.deepEqual([token.metadata, token.created_at], [{ keep: 'k' }, created_at]);
      assert.match(token.modified_at ?? '', DATE);
      assert.equal(token.modified_by, vault.fullId);
      assert.equal((await call('PATCH', `/tokens/${id}`, { body: { data: 'whole' } })).as<Token>().data, 'whole');
      const other = await call('PATCH', `/tokens/${id}`, { body: { type: 'card' } });
      assertProblem(other, 400, 'validation_failed');
    });

    it('201 and 200 with the same token where deduplication is asked for', async () => {
      const body = { data: `same ${Date.now()}`, deduplicate_token: true };
      const first = await make(body);
      const again = await make(body);
      assert.equal(again.id, first.id);
      const { id } = await make({ data: 'another' });
      const patched = await call('PATCH', `/tokens/${id}`, { body });
      assert.deepEqual([patched.status, patched.as<Token>().id], [200, first.id]);
      assert.equal((await get(id)).data, 'another');
      assert.deepEqual(await logged(subject(), first.id), [
        'token create: Token created',
        'token read: Token matched by deduplication',
        'token read: Token matched by deduplication',
      ]);
    });

    it('204 for deleting without a body; 404 from then on; the log has each act in its words', async () => {
      const { id } = await make({ type: 'card', data: CARD });
      await get(id);
      await call('PATCH', `/tokens/${id}`, { body: { metadata: { a: 'b' } } });
      const gone = await call('DELETE', `/tokens/${id}`);
      assert.deepEqual([gone.status, gone.text], [204, '']);
      for (const method of ['GET', 'DELETE']) assertProblem(await call(method, `/tokens/${id}`), 404, 'not_found');
      assert.deepEqual(await logged(subject(), id), [
        'card create: Token created',
        'card read: Token retrieved',
        'card update: Token updated',
        'card delete: Token deleted',
      ]);
    });

    it('the first answer again under an idempotency key, with one token, one entry and one count', async () => {
      const send = (body: object, key = vault.full) =>
        call('POST', '/tokens', { key, body, headers: { 'SVC-IDEMPOTENCY-KEY': 'order-4711' } });
      const first = await send({ data: 'once' });
      const again = await send({ data: 'another body' });
      assert.deepEqual([again.status, again.text], [201, first.text]);
      assert.notEqual(again.headers.get('svc-trace-id'), first.headers.get('svc-trace-id'));
      assert.equal(again.headers.get('location'), first.headers.get('location'));
      assert.deepEqual(await logged(subject(), first.as<Token>().id), ['token create: Token created']);
      assert.notEqual((await send({ data: 'theirs' }, vault.stranger)).as<Token>().id, first.as<Token>().id);
      assert.notEqual((await send({ data: 'other' }, vault.plain)).as<Token>().id, first.as<Token>().id);
    });

    it('a token for each body under an idempotency key beside a public key: shoppers share that key', async () => {
      const send = (body: object) =>
        call('POST', '/tokens', { key: vault.public, body, headers: { 'SVC-IDEMPOTENCY-KEY': 'order-4713' } });
      const mine = await send({ type: 'card', data: CARD, metadata: { customer: 'me' } });
      const theirs = await send({ type: 'card', data: CARD, metadata: { customer: 'them' } });
      assert.deepEqual([mine.status, theirs.status], [201, 201]);
      assert.notEqual(theirs.as<Token>().id, mine.as<Token>().id);
      assert.doesNotMatch(theirs.text, /"me"/);
      assert.equal((await send({ type: 'card', data: CARD, metadata: { customer: 'me' } })).text, mine.text);
    });

    it('409 idempotency_answer_not_kept once the token is gone: no second one, and nothing of it is shown', async () => {
      const send = () =>
        call('POST', '/tokens', {
          key: vault.full,
          body: { data: 'gone for good' },
          headers: { 'SVC-IDEMPOTENCY-KEY': 'order-4714' },
        });
      const first = await send();
      assert.equal((await send()).text, first.text);
      assert.equal((await call('DELETE', `/tokens/${first.as<Token>().id}`, { key: vault.full })).status, 204);
      const again = await send();
      assertProblem(again, 409, 'idempotency_answer_not_kept');
      assert.doesNotMatch(again.text, /gone for good/);
    });

    it('201 and 409 with what a page of another origin may read of the headers', async () => {
      const sent = { body: { id: `origin-${Date.now()}`, data: 1 }, headers: { Origin: 'https://shop.test' } };
      for (const status of [201, 409]) {
        const { headers, ...answer } = await call('POST', '/tokens', sent);
        assert.equal(answer.status, status);
        assert.equal(headers.get('access-control-allow-origin'), '*');
        assert.equal(headers.get('access-control-allow-credentials'), null);
        const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase().split(', ');
        for (const name of ['svc-trace-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'location']) {
          assert.ok(exposed.includes(name), name);
        }
      }
    });

    it('201 for null as if it were absent, the last of duplicate keys, and data returned byte for byte', async () => {
      const raw =
        '{"data":"first","data":{"n":null,"z":1,"a":-0.5e3,"text":"\\u00e9\\ud83d\\ude00"},"metadata":null,"id":null}';
      const { id, data, ...rest } = (await call('POST', '/tokens', { raw })).as<Token>();
      assert.equal(JSON.stringify(data), '{"n":null,"z":1,"a":-500,"text":"é😀"}');
      assert.ok(!Object.hasOwn(rest, 'metadata'));
      assert.match(id, UUID);
      for (const metadata of [{ a: 'x\0y' }, { a: '\ud83d' }]) {
        assertProblem(await call('POST', '/tokens', { body: { data: 1, metadata } }), 400, 'validation_failed');
      }
      assertProblem(await call('POST', '/tokens', { raw: '' }), 400, 'validation_failed');
    });

    it('200 and 201 under a further prefix of the header names, answered with the same prefix', async () => {
      const headers = { 'bt-api-key': vault.full, 'BT-TRACE-ID': 'trace-1', 'bt-idempotency-key': 'bt-1' };
      const first = await subject().call('POST', '/tokens', { body: { data: 1 }, headers });
      assert.deepEqual([first.status, first.headers.get('bt-trace-id')], [201, 'trace-1']);
      const again = await subject().call('POST', '/tokens', { body: { data: 2 }, headers });
      assert.equal(again.text, first.text);
      const wins = { 'BT-API-KEY': 'x', 'SVC-API-KEY': vault.full };
      assert.equal((await subject().call('GET', `/tokens/${first.as<Token>().id}`, { headers: wins })).status, 200);
    });
  });
}

export const tokens: Resource = {
  endpoints: [
    endpoint(['POST', '/tokens'], 'token:create', 201, [...SENT, 409], { data: 'sent' }),
    endpoint(['GET', '/tokens/{id}'], 'token:read', 200, ONE),
    endpoint(['PATCH', '/tokens/{id}'], 'token:update', 200, [...SENT, 404], { data: 'sent' }),
    endpoint(['DELETE', '/tokens/{id}'], 'token:delete', 204, ONE),
  ],
  suite,
};
