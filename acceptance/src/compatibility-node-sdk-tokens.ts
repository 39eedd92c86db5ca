import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BasisTheoryClient } from '@basis-theory/node-sdk';
import { BasisTheory } from '@basis-theory/node-sdk';
import { isError, toArray } from './compatibility-node-sdk-checks.js';
import { given } from './compatibility-subject.js';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2020, cvc: 123 };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Every token call, by an Application that may do everything and sees plain data; the reader sees masks. */
export function nodeSdkTokens(client: () => BasisTheoryClient, reader: () => BasisTheoryClient): void {
  it('creates a token with everything a token can have, and reads it again', async () => {
    const { tokens } = client();
    const wanted = {
      id: 'weird id:1',
      type: 'token',
      data: { camelCase: 'kept', snake_case: null, list: [1, true] },
      metadata: { orderNumber: '4711' },
      searchIndexes: ['{{ data.camelCase }}'],
      fingerprintExpression: '{{ data.camelCase }}',
      mask: { camelCase: '{{ data.camelCase | reveal_last: 2 }}' },
      containers: ['/general/high/'],
      privacy: { classification: 'general', impactLevel: 'high', restrictionPolicy: 'mask' },
    };
    const made = await tokens.create({ ...wanted, expiresAt: '12/31/2099' });
    const { tenantId, createdBy, createdAt, fingerprint, expiresAt, ...rest } = made;
    assert.deepEqual(rest, wanted);
    for (const id of [tenantId, createdBy]) assert.match(given(id), UUID);
    assert.ok(createdAt instanceof Date);
    assert.match(given(fingerprint), /^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    assert.equal(expiresAt?.toISOString(), '2099-12-31T00:00:00.000Z');
    assert.deepEqual(await tokens.get('weird id:1'), made);
    const taken = tokens.create({ id: 'weird id:1', data: 'x' });
    await assert.rejects(taken, (error) => isError(error, BasisTheory.ConflictError));
  });

  it('creates an expired card with a number as cvc, and a token without a type', async () => {
    const { tokens } = client();
    const card = await tokens.create({ type: 'card', data: CARD });
    assert.deepEqual(card.data, CARD);
    assert.deepEqual(card.privacy, { classification: 'pci', impactLevel: 'high', restrictionPolicy: 'mask' });
    assert.equal((await tokens.create({ data: 'untyped' })).type, 'token');
    const wrong = tokens.create({ type: 'card', data: { ...CARD, number: '4242424242424241' } });
    await assert.rejects(wrong, (error) => isError(error, BasisTheory.BadRequestError, 'data.number'));
  });

  it('stores a mask that does not parse as it came', async () => {
    const made = await client().tokens.create({ data: 'x', mask: '{{ data | ' });
    assert.equal(made.mask, '{{ data | ');
  });

  it('shows a mask where plain data is not granted: the default of the type, or its own', async () => {
    const { tokens } = client();
    const card = await tokens.create({ type: 'card', data: CARD });
    const masked = { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2020 };
    assert.deepEqual((await reader().tokens.get(given(card.id))).data, masked);
    const data = { name: 'Ada Lovelace', age: 36, hidden: 'never' };
    const mask = { name: '{{ data.name | reveal_last: 4 }}', age: '{{ data.age }}', hidden: '{{ data.hidden | ' };
    const own = await tokens.create({ data, mask });
    const shown = await reader().tokens.get(given(own.id));
    assert.deepEqual(shown.data, { name: 'XXXXXXXXlace', age: 36 });
    assert.deepEqual(shown.mask, mask);
    const bare = await tokens.create({ data: 'nothing to show' });
    assert.equal((await reader().tokens.get(given(bare.id))).data, undefined);
    const seen = await reader().tokens.detokenize({ number: `{{ ${card.id} | json: '$.number' }}` });
    assert.deepEqual(seen, { number: masked.number });
  });

  it('changes a token by merging, and deletes it', async () => {
    const { tokens } = client();
    const { id } = await tokens.create({ data: { kept: 1, dropped: 2 }, metadata: { a: '1', b: '2' } });
    const changed = await tokens.update(given(id), {
      data: { dropped: null, added: 3 },
      metadata: { b: '3' },
      privacy: { impactLevel: 'low' },
      expiresAt: '1/2/2099 3:04 PM',
    });
    assert.deepEqual(changed.data, { kept: 1, added: 3 });
    assert.deepEqual(changed.metadata, { a: '1', b: '3' });
    assert.equal(changed.expiresAt?.toISOString(), '2099-01-02T15:04:00.000Z');
    assert.ok(changed.modifiedAt instanceof Date);
    assert.deepEqual(await tokens.get(given(id)), changed);
    assert.equal(await tokens.delete(given(id)), undefined);
    await assert.rejects(tokens.get(given(id)), (error) => isError(error, BasisTheory.NotFoundError));
    await assert.rejects(tokens.update(given(id), {}), (error) => isError(error, BasisTheory.NotFoundError));
  });

  it('gives the first answer again for the same idempotency key, whatever the body', async () => {
    const { tokens } = client();
    const idempotencyKey = 'order-4711';
    const first = await tokens.create({ data: 'first' }, { idempotencyKey });
    assert.deepEqual(await tokens.create({ data: 'second' }, { idempotencyKey }), first);
  });

  it('returns the token it has for the same data, if asked to deduplicate', async () => {
    const { tokens } = client();
    const first = await tokens.create({ data: 'twice', deduplicateToken: true });
    assert.equal((await tokens.create({ data: 'twice', deduplicateToken: true })).id, first.id);
  });

  it('lists tokens: newest first, by id, by metadata, page by page until one is empty', async () => {
    const { tokens } = client();
    const made: string[] = [];
    for (const data of ['a', 'b', 'c']) {
      made.unshift(given((await tokens.create({ data, metadata: { listed: 'Yes' } })).id));
    }
    assert.equal((await tokens.list()).data[0]?.id, made[0]);
    assert.deepEqual(idsOf((await tokens.list({ id: made })).data), made);
    assert.deepEqual(idsOf((await tokens.list({ metadata: { listed: 'yes' } })).data), made);
    assert.deepEqual(idsOf(await toArray(await tokens.list({ id: made, size: 2 }))), made);
    const [one = ''] = made;
    assert.deepEqual(idsOf((await tokens.list({ id: one, page: 1 })).data), [one]);
  });

  it('lists tokens by cursor: by type, container, fingerprint and metadata, to the last page', async () => {
    const { tokens } = client();
    const made: string[] = [];
    for (const data of ['4111111111111111', '5555555555554444', '378282246310005']) {
      const token = await tokens.create({
        type: 'card_number',
        data,
        containers: ['/v2/sdk/'],
        metadata: { v: 'two' },
      });
      made.unshift(given(token.id));
    }
    assert.deepEqual(idsOf(await toArray(await tokens.listV2({ type: 'card_number', size: 2 }))), made);
    assert.deepEqual(idsOf(await toArray(await tokens.listV2({ container: '/v2/', size: 1 }))), made);
    assert.deepEqual(idsOf((await tokens.listV2({ metadata: { v: 'two' } })).data), made);
    const print = { deduplicateToken: true, data: 'printed' };
    const { id, fingerprint } = await tokens.create(print);
    assert.deepEqual(idsOf((await tokens.listV2({ fingerprint: given(fingerprint) })).data), [given(id)]);
  });

  it('searches by page and by cursor', async () => {
    const { tokens } = client();
    const made: string[] = [];
    for (const data of ['x', 'y', 'z']) {
      const token = await tokens.create({ data: { data, same: 'needle' }, searchIndexes: ['{{ data.same }}'] });
      made.unshift(given(token.id));
    }
    const query = 'data:needle';
    assert.deepEqual(idsOf((await tokens.search({ query })).data), made);
    assert.deepEqual(idsOf(await toArray(await tokens.search({ query, size: 2 }))), made);
    assert.deepEqual(idsOf(await toArray(await tokens.searchV2({ query, size: 2 }))), made);
    const refused = tokens.search({ query: 'data:(' });
    await assert.rejects(refused, (error) => isError(error, BasisTheory.BadRequestError));
  });

  it('tokenizes and detokenizes in the shape that was sent', async () => {
    const { tokens } = client();
    const tokenized = await tokens.tokenize({ plain: 'secret', card: { type: 'card', data: CARD }, none: null });
    const { plain, card, none } = shaped(tokenized);
    assert.match(String(plain), UUID);
    assert.equal(none, null);
    const { id } = shaped(card);
    assert.match(String(id), UUID);
    const back = await tokens.detokenize({ plain: `{{ ${plain} }}`, card: [`{{ ${id} }}`] });
    assert.deepEqual(back, { plain: 'secret', card: [CARD] });
    const text = await tokens.detokenize(`{{ ${id} | json: '$.number' | last4 }}`);
    assert.equal(text, '4242');
    const unknown = tokens.detokenize({ it: '{{ 00000000-0000-4000-8000-00000000dead }}' });
    await assert.rejects(unknown, (error) => isError(error, BasisTheory.BadRequestError));
  });
}

function idsOf(tokens: readonly BasisTheory.Token[]): string[] {
  return tokens.map(({ id }) => given(id));
}

function shaped(value: unknown): Partial<Record<string, unknown>> {
  assert.ok(typeof value === 'object' && value !== null);
  return { ...value };
}
