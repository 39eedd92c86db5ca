/** An endpoint as the index of the API has it. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** A permission, or which kind of key will do. */
  readonly needs: string;
  readonly success: number;
  /** What it answers besides: 401 always, the others as its kind and its section say. */
  readonly refusals: readonly number[];
  /** A body it takes, where it takes one. */
  readonly body?: unknown;
}

const READ = [401, 403];
const LIST = [400, 401, 403];
const ONE = [401, 403, 404];
const SENT = [400, 401, 403, 413, 415];

function endpoint(
  [method, path]: readonly [string, string],
  needs: string,
  success: number,
  refusals: readonly number[],
  body?: unknown,
): Endpoint {
  return { method, path, needs, success, refusals, ...(body !== undefined && { body }) };
}

const APPLICATION = { name: 'Sent', permissions: ['token:create'] };
const NONCE = 'abcdefghijklmnopqrstuv';

/** Every row of the index that is built. Each of its statuses must have been seen when the suite ends. */
export const ENDPOINTS: readonly Endpoint[] = [
  endpoint(['GET', '/permissions'], 'any key', 200, [400, 401]),
  endpoint(['GET', '/logs'], 'log:read', 200, LIST),
  endpoint(['GET', '/logs/entity-types'], 'log:read', 200, READ),
  endpoint(['GET', '/tenants/self'], 'tenant:read', 200, READ),
  endpoint(['PUT', '/tenants/self'], 'tenant:update', 200, SENT, { name: 'Main' }),
  endpoint(['DELETE', '/tenants/self'], 'tenant:delete', 204, READ),
  endpoint(['GET', '/tenants/self/reports/usage'], 'report:read', 200, READ),
  endpoint(['GET', '/applications'], 'application:read', 200, LIST),
  endpoint(['POST', '/applications'], 'application:create', 201, SENT, { ...APPLICATION, type: 'public' }),
  endpoint(['GET', '/applications/key'], 'any application key', 200, READ),
  endpoint(['GET', '/applications/{id}'], 'application:read', 200, ONE),
  endpoint(['PUT', '/applications/{id}'], 'application:update', 200, [...SENT, 404], APPLICATION),
  endpoint(['DELETE', '/applications/{id}'], 'application:delete', 204, ONE),
  endpoint(['POST', '/applications/{id}/regenerate'], 'application:update', 200, [...SENT, 404], {}),
  endpoint(['GET', '/applications/{id}/keys'], 'application:read', 200, ONE),
  endpoint(['POST', '/applications/{id}/keys'], 'application:update', 201, [...SENT, 404], {}),
  endpoint(['GET', '/applications/{id}/keys/{key_id}'], 'application:read', 200, ONE),
  endpoint(['DELETE', '/applications/{id}/keys/{key_id}'], 'application:update', 204, ONE),
  endpoint(['GET', '/application-templates'], 'any key', 200, [401]),
  endpoint(['GET', '/application-templates/{id}'], 'any key', 200, [401, 404]),
  endpoint(['GET', '/tokens'], 'token:read', 200, LIST),
  endpoint(['POST', '/tokens'], 'token:create', 201, [...SENT, 409], { data: 'sent' }),
  endpoint(['GET', '/tokens/{id}'], 'token:read', 200, ONE),
  endpoint(['PATCH', '/tokens/{id}'], 'token:update', 200, [...SENT, 404], { data: 'sent' }),
  endpoint(['DELETE', '/tokens/{id}'], 'token:delete', 204, ONE),
  endpoint(['POST', '/tokens/search'], 'token:search', 200, SENT, { query: '' }),
  endpoint(['GET', '/v2/tokens'], 'token:read', 200, LIST),
  endpoint(['POST', '/v2/tokens/search'], 'token:search', 200, SENT, { query: '' }),
  endpoint(['POST', '/tokenize'], 'token:create', 200, [...SENT, 409], { sent: 'value' }),
  endpoint(['POST', '/detokenize'], 'token:read', 200, SENT, { sent: 'text' }),
  endpoint(['POST', '/sessions'], 'public application key', 201, SENT, {}),
  endpoint(['POST', '/sessions/authorize'], 'private application key', 200, [...SENT, 404, 409], {
    nonce: NONCE,
    permissions: ['token:read'],
  }),
  endpoint(['DELETE', '/sessions/{id}'], 'any application key', 204, ONE),
];

/** Paths with the methods each of them takes. */
export const METHODS_BY_PATH: ReadonlyMap<string, readonly string[]> = new Map(
  [...new Set(ENDPOINTS.map(({ path }) => path))].map((path) => [
    path,
    ENDPOINTS.filter((one) => one.path === path).map(({ method }) => method),
  ]),
);

/** The path of the index that an address is about; a fixed segment goes before a parameter. */
export function pathOf(address: string): string | undefined {
  const [pathname = ''] = address.split('?');
  const segments = pathname.replace(/(?<=.)\/$/, '').split('/');
  const fits = [...METHODS_BY_PATH.keys()].filter((path) => {
    const parts = path.split('/');
    return parts.length === segments.length && parts.every((part, n) => part.startsWith('{') || part === segments[n]);
  });
  return fits.sort((a, b) => a.split('{').length - b.split('{').length)[0];
}
