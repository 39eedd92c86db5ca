/** The package `node-fetch` over the engine's own fetch: the module is the function, as in version 2, and so is `default`. */
class FetchError extends Error {
  readonly type: string;

  constructor(message: string, type: string) {
    super(message);
    this.name = 'FetchError';
    this.type = type;
  }
}
class AbortError extends Error {
  override readonly name = 'AbortError';
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const nodeFetch = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => globalThis.fetch(input, init);

export default Object.assign(nodeFetch, {
  default: nodeFetch,
  ...{ Headers, Request, Response, FormData, Blob, FetchError, AbortError },
  isRedirect: (status: number) => REDIRECTS.has(status),
});
