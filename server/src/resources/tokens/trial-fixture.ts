import type { Names } from '../../testing/isolation-pair.js';
import { PAIR_CARD, SHARED_IDEMPOTENCY_KEY } from '../../testing/isolation-pair.js';
import type { SliceTrial, Targets, TriedRoute, WalkRequest } from '../../testing/slice-trial.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';

const RIGHTS = ['create', 'read', 'search', 'update'].map((act) => `token:${act}`);
const privateKey = (app: TestApp, { id }: TestTenant) => app.makeKey(id, 'private', RIGHTS);
const params = ({ tokenId }: Targets) => ({ id: tokenId });
const search = { needs: 'token:search', status: 200, body: () => ({ query: '' }) } as const;

const ROUTES: readonly TriedRoute[] = [
  { method: 'GET', path: '/tokens', needs: 'token:read', status: 200 },
  {
    ...{ method: 'POST', path: '/tokens', needs: 'token:create', status: 201, leavesTarget: true },
    body: () => ({ data: 'made' }),
  },
  { method: 'GET', path: '/tokens/:id', needs: 'token:read', status: 200, params },
  {
    ...{ method: 'PATCH', path: '/tokens/:id', needs: 'token:update', status: 200, params },
    body: () => ({ data: 'changed' }),
  },
  { method: 'POST', path: '/tokens/search', ...search },
  { method: 'GET', path: '/v2/tokens', needs: 'token:read', status: 200 },
  { method: 'POST', path: '/v2/tokens/search', ...search },
  {
    ...{ method: 'POST', path: '/tokenize', needs: 'token:create', status: 200, leavesTarget: true },
    body: () => ({ a: 'made' }),
  },
  {
    ...{ method: 'POST', path: '/detokenize', needs: 'token:read', status: 200 },
    body: ({ tokenId }) => [`{{ token: ${tokenId} | json: "$.id" }}`],
  },
  { method: 'DELETE', path: '/tokens/:id', needs: 'token:delete', status: 204, params },
];

function reads(of: Names): WalkRequest[] {
  const paths = [
    '/tokens?size=100',
    '/tokens?page=2&size=1',
    ...[of.tokenId, of.alias, of.cardId].flatMap((id) => [`/tokens/${id}`, `/tokens?id=${id}`, `/v2/tokens?id=${id}`]),
    `/tokens?container=${of.container}`,
    `/tokens?metadata.note=${of.metadataValue}&type=token`,
    '/v2/tokens?size=100',
    `/v2/tokens?container=${of.containerAbove}`,
    `/v2/tokens?fingerprint=${of.fingerprint}`,
    `/v2/tokens?metadata.note=${of.metadataValue}`,
    `/v2/tokens?start=${of.tokensCursor}&size=1`,
    `/v2/tokens?start=${of.searchCursor}&size=1`,
  ];
  return [
    ...paths.map((path): WalkRequest => ({ as: 'private', method: 'GET', path })),
    ...[of.tokenId, of.alias].map((id): WalkRequest => ({ as: 'session', method: 'GET', path: `/tokens/${id}` })),
    { as: 'session', method: 'GET', path: '/tokens?size=100' },
    ...lookUps(of),
  ];
}

/** Searches by everything a token has, and expressions that name tokens. */
function lookUps(of: Names): WalkRequest[] {
  const queries = [
    '',
    `id:${of.tokenId}`,
    `id:${of.alias} OR id:${of.cardId}`,
    `fingerprint:${of.fingerprint}`,
    `created_by:${of.applicationId}`,
    `modified_by:${of.applicationId}`,
    `metadata.note:${of.metadataValue}`,
    `data:"${of.dataValue}"`,
    `data:"${of.dataValue}" OR (type:token AND metadata.note:${of.metadataValue})`,
    `container:"${of.container}"`,
    'container:/*',
    'NOT id:nobody',
    'created_at:[2000-01-01 TO *]',
  ];
  const expressions = [of.tokenId, of.alias, of.cardId].flatMap((id) => [
    `{{ ${id} }}`,
    { nested: [`before {{ ${id} | json: "$.number" }} after`] },
    `{{ token: ${id} | stringify }}`,
  ]);
  return [
    ...['/tokens/search', '/v2/tokens/search'].flatMap((path) =>
      queries.map((query): WalkRequest => ({ as: 'private', method: 'POST', path, body: { query, size: 100 } })),
    ),
    ...[of.searchCursor, of.tokensCursor].map(
      (start): WalkRequest => ({
        as: 'private',
        method: 'POST',
        path: '/v2/tokens/search',
        body: { query: '', start },
      }),
    ),
    ...expressions.flatMap((body): WalkRequest[] => [
      { as: 'private', method: 'POST', path: '/detokenize', body: [body] },
      { as: 'session', method: 'POST', path: '/detokenize', body: [body] },
    ]),
  ];
}

function changes(of: Names): WalkRequest[] {
  const body = { data: 'overwritten', metadata: { note: null } };
  return [of.tokenId, of.alias, of.cardId].flatMap((id): WalkRequest[] => [
    { as: 'private', method: 'PATCH', path: `/tokens/${id}`, body },
    { as: 'private', method: 'DELETE', path: `/tokens/${id}` },
  ]);
}

/** Ids, values and idempotency keys of one tenant are free for another. */
function doubles(of: Names): WalkRequest[] {
  const headers = { 'SVC-IDEMPOTENCY-KEY': SHARED_IDEMPOTENCY_KEY };
  const card = { type: 'card', data: PAIR_CARD, deduplicate_token: true };
  const own = { data: 'mine', metadata: { note: 'mine' } };
  const alias = { id: of.alias, ...own, tenant_id: of.tenantId, created_by: of.applicationId };
  return [
    { as: 'private', method: 'POST', path: '/tokens', body: alias },
    {
      as: 'private',
      method: 'POST',
      path: '/tokens',
      body: { type: 'card', data: PAIR_CARD, deduplicate_token: false },
    },
    { as: 'private', method: 'POST', path: '/tokens', body: card },
    { as: 'private', method: 'POST', path: '/tokens', body: card, headers },
    { as: 'private', method: 'POST', path: '/tokenize', body: { a: { id: of.tokenId, type: 'token', data: 'mine' } } },
    { as: 'private', method: 'PATCH', path: `/tokens/${of.alias}`, body: { data: 'still mine' } },
    { as: 'private', method: 'GET', path: `/tokens/${of.alias}` },
    { as: 'private', method: 'DELETE', path: `/tokens/${of.alias}` },
    { as: 'private', method: 'DELETE', path: `/tokens/${of.tokenId}` },
  ];
}

export const trial: SliceTrial = {
  routes: ROUTES,
  successes: {
    'POST /tokens': async (app, tenant) => ({
      ...{ path: '/tokens', body: { type: 'token', data: 'x' } },
      key: await privateKey(app, tenant),
    }),
    'PATCH /tokens/:id': async (app, tenant) => {
      const key = await privateKey(app, tenant);
      const { json } = await app.call('POST', '/tokens', { key, body: { data: 'x' } });
      return { path: `/tokens/${json.id}`, body: { data: 'y' }, key };
    },
    'POST /tokenize': async (app, tenant) => ({
      ...{ path: '/tokenize', body: ['x', 1] },
      key: await privateKey(app, tenant),
    }),
  },
  reads,
  changes,
  doubles,
  widened: [
    ...['find_kept_answers', 'find_tokens', 'lock_tokens', 'update_tokens', 'delete_tokens', 'delete_token_terms'],
    ...['list_token_groups', 'find_token_directory_version', 'find_known_combinations', 'count_combinations'],
    ...['find_tokens_by_time_all', 'find_tokens_by_ids_all', 'count_tokens_all', 'count_tokens_by_groups'],
  ],
};
