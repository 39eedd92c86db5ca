import type { Answer } from './http-client.js';
import type { Names, Populated } from './isolation-pair.js';
import { CARD, SHARED_IDEMPOTENCY_KEY } from './isolation-pair.js';
import type { TestApp } from './test-app.js';

type Holder = 'management' | 'private' | 'public' | 'session';

interface Request {
  readonly as: Holder;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Step {
  readonly request: Request;
  readonly answer: Answer;
}

/** Reads with the names of somebody else wherever a name fits. */
function reads(of: Names): Request[] {
  const management = [
    '/permissions',
    '/logs?size=1000',
    '/logs?include=details&size=1000',
    '/logs?page=1&size=1000',
    '/logs?page=2&size=10',
    '/logs?entity_type=card&size=1000',
    `/logs?entity_type=tenant&entity_id=${of.tenantId}&page=1`,
    `/logs?entity_id=${of.tenantId}`,
    `/logs?entity_id=${of.tokenId}&include=details`,
    `/logs?entity_id=${of.applicationId}&include=details`,
    `/logs?entity_id=${of.sessionId}`,
    `/logs?entity_id=${of.logEntity}&include=details`,
    `/logs?tenant_id=${of.tenantId}`,
    `/logs?actor_id=${of.applicationId}&page=1`,
    `/logs?actor_id=${of.applicationId}&entity_id=${of.tokenId}&include=details`,
    '/logs?operation=create&outcome=success&page=2&size=5',
    '/logs?outcome=denied',
    '/logs?start_date=2000-01-01&end_date=9999-01-01&size=1000',
    `/logs?start=${of.logsCursor}&size=5`,
    `/logs?start=${of.tokensCursor}`,
    '/logs/entity-types',
    '/tenants/self',
    `/tenants/self?id=${of.tenantId}`,
    `/tenants/${of.tenantId}`,
    '/tenants/self/reports/usage',
    `/tenants/self/reports/usage?tenant_id=${of.tenantId}`,
    '/applications?size=100',
    '/applications?page=2&size=1',
    `/applications?id=${of.applicationId}`,
    `/applications?id=${of.applicationId}&type=private&tenant_id=${of.tenantId}`,
    '/applications/key',
    `/applications/${of.applicationId}`,
    `/applications/${of.applicationId}/keys`,
    `/applications/${of.applicationId}/keys/${of.keyId}`,
    '/application-templates',
    `/application-templates/${of.applicationId}`,
  ];
  const tokens = [
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
    ...management.map((path): Request => ({ as: 'management', method: 'GET', path })),
    ...tokens.map((path): Request => ({ as: 'private', method: 'GET', path })),
    ...[of.tokenId, of.alias].map((id): Request => ({ as: 'session', method: 'GET', path: `/tokens/${id}` })),
    { as: 'session', method: 'GET', path: '/tokens?size=100' },
  ];
}

/** Searches by everything a token has, and expressions that name tokens. */
function lookUps(of: Names): Request[] {
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
      queries.map((query): Request => ({ as: 'private', method: 'POST', path, body: { query, size: 100 } })),
    ),
    ...[of.searchCursor, of.tokensCursor].map(
      (start): Request => ({ as: 'private', method: 'POST', path: '/v2/tokens/search', body: { query: '', start } }),
    ),
    ...expressions.flatMap((body): Request[] => [
      { as: 'private', method: 'POST', path: '/detokenize', body: [body] },
      { as: 'session', method: 'POST', path: '/detokenize', body: [body] },
    ]),
  ];
}

/** Changes aimed at what is not the caller's. */
function changes(of: Names): Request[] {
  const { tenantId, applicationId, keyId } = of;
  const tenant = { name: 'Renamed by A', id: tenantId, tenant_id: tenantId, settings: { fingerprint_tokens: 'true' } };
  const application = { name: 'Taken over', permissions: ['token:read'], tenant_id: tenantId, id: applicationId };
  const requests: Omit<Request, 'as'>[] = [
    { method: 'PUT', path: '/tenants/self', body: tenant },
    { method: 'PUT', path: `/tenants/${tenantId}`, body: tenant },
    { method: 'DELETE', path: `/tenants/${tenantId}` },
    { method: 'POST', path: '/applications', body: { ...application, type: 'private' } },
    { method: 'PUT', path: `/applications/${applicationId}`, body: application },
    { method: 'POST', path: `/applications/${applicationId}/regenerate` },
    { method: 'POST', path: `/applications/${applicationId}/keys` },
    { method: 'DELETE', path: `/applications/${applicationId}/keys/${keyId}` },
    { method: 'DELETE', path: `/applications/${applicationId}` },
  ];
  const session = { nonce: of.nonce, permissions: ['token:read'] };
  return [
    ...requests.map((request): Request => ({ as: 'management', ...request })),
    { as: 'private', method: 'POST', path: '/sessions/authorize', body: session },
    { as: 'public', method: 'POST', path: '/sessions' },
    ...(['management', 'private', 'public'] as const).map(
      (as): Request => ({ as, method: 'DELETE', path: `/sessions/${of.sessionId}` }),
    ),
    ...[of.tokenId, of.alias, of.cardId].flatMap((id): Request[] => [
      {
        as: 'private',
        method: 'PATCH',
        path: `/tokens/${id}`,
        body: { data: 'overwritten', metadata: { note: null } },
      },
      { as: 'private', method: 'DELETE', path: `/tokens/${id}` },
    ]),
  ];
}

/** What the other has already, made once more: ids, values and idempotency keys of one tenant are free for another. */
function doubles(of: Names): Request[] {
  const headers = { 'SVC-IDEMPOTENCY-KEY': SHARED_IDEMPOTENCY_KEY };
  const card = { type: 'card', data: CARD, deduplicate_token: true };
  const alias = {
    id: of.alias,
    data: 'mine',
    metadata: { note: 'mine' },
    tenant_id: of.tenantId,
    created_by: of.applicationId,
  };
  return [
    { as: 'private', method: 'POST', path: '/tokens', body: alias },
    { as: 'private', method: 'POST', path: '/tokens', body: { type: 'card', data: CARD, deduplicate_token: false } },
    { as: 'private', method: 'POST', path: '/tokens', body: card },
    { as: 'private', method: 'POST', path: '/tokens', body: card, headers },
    { as: 'private', method: 'POST', path: '/tokenize', body: { a: { id: of.tokenId, type: 'token', data: 'mine' } } },
    { as: 'private', method: 'PATCH', path: `/tokens/${of.alias}`, body: { data: 'still mine' } },
    { as: 'private', method: 'GET', path: `/tokens/${of.alias}` },
    { as: 'private', method: 'DELETE', path: `/tokens/${of.alias}` },
    { as: 'private', method: 'DELETE', path: `/tokens/${of.tokenId}` },
  ];
}

/** Tries everything the keys of A can be used for, with the names of somebody else wherever a name fits. */
export async function walk(app: TestApp, a: Populated, of: Names): Promise<Step[]> {
  const keys = { management: a.key, private: a.privateKey, public: a.publicKey, session: a.sessionKey };
  const steps: Step[] = [];
  for (const request of [...reads(of), ...lookUps(of), ...changes(of), ...doubles(of)]) {
    const { as, method, path, body } = request;
    const headers = { 'SVC-TENANT-ID': of.tenantId, ...request.headers };
    const answer = await app.call(method, path, { key: keys[as], headers, ...(body !== undefined && { body }) });
    steps.push({ request, answer });
  }
  return steps;
}

/** Secrets an answer tells, besides those its own request named. */
export function leaksIn(steps: readonly Step[], secrets: readonly string[]): string[] {
  return steps.flatMap(({ request, answer }) => {
    const asked = JSON.stringify(request);
    const told = secrets.filter((secret) => answer.text.includes(secret) && !asked.includes(secret));
    return told.map((secret) => `${request.method} ${request.path} told ${secret}`);
  });
}

/** What an answer says, with the names of the request replaced by their kind: the same for whoever they belong to. */
export function sayings(steps: readonly Step[], of: Names): string[] {
  return steps.map(({ request, answer }) => {
    const { trace_id: _, ...told } = answer.status < 400 ? { trace_id: '' } : answer.json;
    let text = `${request.as} ${request.method} ${request.path} ${answer.status} ${JSON.stringify(told)}`;
    for (const [kind, name] of Object.entries(of)) text = text.replaceAll(name, kind);
    return text;
  });
}
