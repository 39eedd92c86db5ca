import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BasisTheory } from '@basis-theory/basis-theory-js';
import { isApiError } from './compatibility-js-checks.js';
import { given } from './compatibility-subject.js';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2020, cvc: '123' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Every token call, by an Application that may do everything and sees plain data. */
export function jsTokens(client: () => BasisTheory): void {
  it('creates a token with everything a token can have, and reads it again', async () => {
    const { tokens } = client();
    const privacy = {
      classification: 'general' as const,
      impactLevel: 'high' as const,
      restrictionPolicy: 'mask' as const,
    };
    const wanted = {
      id: 'weird id:2',
      type: 'token' as const,
      data: { camelCase: 'kept', snake_case: null, list: [1, true] },
      metadata: { orderNumber: '4711' },
      searchIndexes: ['{{ data.camelCase }}'],
      fingerprintExpression: '{{ data.camelCase }}',
      mask: { hint: '{{ data.camelCase | reveal_last: 2 }}' },
      containers: ['/general/high/'],
      encryption: { cek: { key: 'k', alg: 'A256' }, kek: { key: 'q', alg: 'RSA' } },
      privacy,
    };
    const made = await tokens.create({ ...wanted, expiresAt: '1/2/2099 3:04:05 AM +01:00' });
    const { tenantId, createdBy, createdAt, fingerprint, expiresAt, ...rest } = made;
    assert.deepEqual(rest, wanted);
    for (const id of [tenantId, createdBy]) assert.match(given(id), UUID);
    assert.match(given(createdAt), /\+00:00$/);
    assert.match(given(fingerprint), /^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    assert.equal(expiresAt, '2099-01-02T02:04:05.000+00:00');
    assert.deepEqual(await tokens.retrieve('weird id:2'), made);
    const taken = tokens.create({ id: 'weird id:2', type: 'token', data: 'x' });
    await assert.rejects(taken, (error) => isApiError(error, 409));
  });

  it('changes a token by merging, and deletes it', async () => {
    const { tokens } = client();
    const data = { kept: 1, dropped: 2 };
    const { id } = await tokens.create({ type: 'token', data, metadata: { a: '1', b: '2' } });
    const changed = await tokens.update(id, { data: { dropped: null, added: 3 }, metadata: { b: '3' } });
    assert.deepEqual(changed.data, { kept: 1, added: 3 });
    assert.deepEqual(changed.metadata, { a: '1', b: '3' });
    assert.match(given(changed.modifiedAt), /\+00:00$/);
    assert.deepEqual(await tokens.retrieve(id), changed);
    assert.equal(await tokens.delete(id), undefined);
    await assert.rejects(tokens.retrieve(id), (error) => isApiError(error, 404));
  });

  it('400 with the field for a card that fails its check', async () => {
    const wrong = client().tokens.create({ type: 'card', data: { ...CARD, number: '4242424242424241' } });
    await assert.rejects(wrong, (error) => isApiError(error, 400, 'dataNumber'));
  });

  it('gives the first answer again for the same idempotency key, whatever the body', async () => {
    const { tokens } = client();
    const options = { idempotencyKey: 'order-4712' };
    const first = await tokens.create({ type: 'token', data: 'first' }, options);
    assert.deepEqual(await tokens.create({ type: 'token', data: 'second' }, options), first);
  });

  it('lists tokens by id, type and metadata, page by page', async () => {
    const { tokens } = client();
    const made: string[] = [];
    for (const data of ['4111111111111111', '5555555555554444', '378282246310005']) {
      made.unshift((await tokens.create({ type: 'card_number', data, metadata: { listedAs: 'Yes' } })).id);
    }
    const idsOf = async (query: Parameters<typeof tokens.list>[0]): Promise<string[]> =>
      (await tokens.list(query)).data.map(({ id }) => id);
    assert.equal((await idsOf({}))[0], made[0], 'what was just made comes first');
    assert.deepEqual(await idsOf({ id: made }), made);
    assert.deepEqual(await idsOf({ type: ['card_number', 'bank'] }), made);
    assert.deepEqual(await idsOf({ metadata: { listedAs: 'yes' } }), made);
    assert.deepEqual(await idsOf({ id: made, page: 2, size: 2 }), made.slice(2));
    assert.deepEqual(await idsOf({ id: made, page: 3, size: 2 }), []);
    const { pagination } = await tokens.list({ id: made, size: 2 });
    assert.deepEqual(pagination, { totalItems: 3, pageNumber: 1, pageSize: 2, totalPages: 2 });
  });

  it('searches page by page', async () => {
    const { tokens } = client();
    const { id } = await tokens.create({ type: 'token', data: 'js needle', searchIndexes: ['{{ data }}'] });
    const { data, pagination } = await tokens.search({ query: 'data:"js needle"', page: 1, size: 5 });
    assert.deepEqual(data, [await tokens.retrieve(id)]);
    assert.deepEqual(pagination, { totalItems: 1, pageNumber: 1, pageSize: 5, totalPages: 1 });
    await assert.rejects(tokens.search({ query: 'data:(' }), (error) => isApiError(error, 400));
  });

  it('tokenizes in the shape that was sent', async () => {
    const sent = { plainText: 'secret', card: { type: 'card', data: CARD }, list: [7, true] };
    const tokenized: Partial<Record<string, unknown>> = Object(await client().tokenize(sent));
    assert.deepEqual(Object.keys(tokenized).sort(), ['card', 'list', 'plainText']);
    assert.equal((await client().tokens.retrieve(String(tokenized.plainText))).data, 'secret');
    const { id, type, data }: Partial<Record<string, unknown>> = Object(tokenized.card);
    assert.match(String(id), UUID);
    assert.deepEqual([type, data], ['card', CARD]);
    const { list } = tokenized;
    assert.ok(Array.isArray(list) && list.length === 2);
    assert.equal((await client().tokens.retrieve(String(list[0]))).data, 7);
  });
}
