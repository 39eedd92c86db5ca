import { Agent, request } from 'node:http';

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
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/**
 * Returns a client of the API on `node:http`, which takes a third of the processor time of `fetch`. It follows no redirects.
 * Connections are kept, and an idle one does not keep the process alive.
 */
export function createCaller(baseUrl: string): Call {
  const agent = new Agent({ keepAlive: true });
  return (method, path, options = {}) =>
    new Promise((resolve, reject) => {
      const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
      const headers = {
        ...(options.key !== undefined && { 'SVC-API-KEY': options.key }),
        ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
        ...options.headers,
      };
      const sent = request(`${baseUrl}${path}`, { method, agent, headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.once('error', reject);
        response.once('end', () => {
          const answered = new Headers();
          const { rawHeaders, statusCode = 0 } = response;
          for (let n = 0; n < rawHeaders.length; n += 2) answered.append(rawHeaders[n] ?? '', rawHeaders[n + 1] ?? '');
          const text = Buffer.concat(pieces).toString();
          const isJson = (answered.get('content-type') ?? '').includes('json');
          resolve({
            status: statusCode,
            headers: answered,
            text,
            json: isJson && text !== '' ? JSON.parse(text) : undefined,
          });
        });
      });
      sent.once('error', reject);
      sent.end(body);
    });
}
