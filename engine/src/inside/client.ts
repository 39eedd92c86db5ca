/** `req.client`: Strongroom's own API, called as the Reactor's Application. The host knows which one that is; nothing here says so. */
export interface ApiBinding {
  fetch(url: string, init: RequestInit): Promise<Response>;
}

const { stringify, parse } = JSON;
const encoded = encodeURIComponent;

export class ClientError extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`Strongroom answered ${status}`);
    this.name = 'ClientError';
    this.status = status;
    this.body = body;
  }
}

export function createClient(api: ApiBinding) {
  async function request(method: string, path: string, body?: unknown): Promise<unknown> {
    const sent = body === undefined ? {} : { body: stringify(body), headers: { 'Content-Type': 'application/json' } };
    const response = await api.fetch(`http://api${path}`, { method, ...sent });
    const text = await response.text();
    const value: unknown = text === '' ? undefined : parse(text);
    if (!response.ok) throw new ClientError(response.status, value);
    return value;
  }
  const tokenAt = (id: string): string => `/tokens/${encoded(id)}`;
  const listAt = (query: Readonly<Record<string, string>> = {}): string => {
    const text = new URLSearchParams(query).toString();
    return text === '' ? '/tokens' : `/tokens?${text}`;
  };
  const read = (id: string) => request('GET', tokenAt(id));
  const list = (query?: Readonly<Record<string, string>>) => request('GET', listAt(query));
  return {
    request,
    tokenize: (tokens: unknown) => request('POST', '/tokenize', tokens),
    detokenize: (expressions: unknown) => request('POST', '/detokenize', expressions),
    tokens: {
      create: (token: unknown) => request('POST', '/tokens', token),
      get: read,
      retrieve: read,
      update: (id: string, change: unknown) => request('PATCH', tokenAt(id), change),
      delete: (id: string) => request('DELETE', tokenAt(id)),
      list,
      search: (search: unknown) => request('POST', '/tokens/search', search),
    },
  };
}
