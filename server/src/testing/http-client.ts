/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by asserting on it.
  readonly json: any;
}

export interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Answer with a redirect instead of where it leads to. */
  readonly staysHere?: true;
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

export function createCaller(baseUrl: string): Call {
  return async (method, path, options = {}) => {
    const hasBody = options.body !== undefined || options.raw !== undefined;
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      ...(options.staysHere && { redirect: 'manual' }),
      headers: {
        ...(options.key !== undefined && { 'SVC-API-KEY': options.key }),
        ...(hasBody && { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      ...(hasBody && { body: options.raw ?? JSON.stringify(options.body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  };
}
