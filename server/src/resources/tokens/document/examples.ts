import type { RouteExample } from '../../../http/routes/route.js';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
const ID = '$response.body#/id';
const MADE = { after: 'POST /tokens', params: { id: ID } };

export const NEW_TOKEN: RouteExample = {
  body: {
    type: 'card',
    data: CARD,
    mask: { number: '{{ data.number | reveal_last: 4 }}' },
    containers: ['/pci/high/'],
    metadata: { customer: 'c-17' },
    search_indexes: ['{{ data.number | last4 }}'],
    fingerprint_expression: '{{ data.number }}',
    deduplicate_token: false,
    expires_at: '2099-12-31T00:00:00Z',
  },
};

export const GET: RouteExample = MADE;

/** Nothing that takes more than `token:update`: who may change a mask of stored data is another question. */
export const PATCH: RouteExample = { ...MADE, body: { metadata: { customer: 'c-18', note: null } } };

export const SEARCH: RouteExample = { body: { query: 'type:card AND metadata.customer:"c-17"', size: 20 } };

export const TOKENIZE: RouteExample = {
  body: { customer: 'Ada Lovelace', card: { type: 'card', data: CARD, metadata: { customer: 'c-17' } } },
};

export const DETOKENIZE: RouteExample = {
  after: 'POST /tokens',
  body: { amount: 1999, card: `{{ {${ID}} | json: '$.number' }}` },
  samples: { [ID]: '8ac6c1d5-7f0b-4d3d-8c2a-3a0f8f6f2d10' },
};
