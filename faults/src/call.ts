import type { Agent } from 'node:http';
import { request } from 'node:http';

export interface Call {
  readonly port: number;
  readonly agent?: Agent;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly trace: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** What the caller knows when it is over. */
export type Ending =
  /** An answer arrived whole. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown; readonly location?: string }
  /** The request cannot have been received. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** Nothing is known: no answer in time, or the connection broke. */
  | { readonly kind: 'lost'; readonly reason: string; readonly isReused: boolean };

/** Never throws. */
export function call(asked: Call): Promise<Ending> {
  return new Promise((resolve) => {
    const text = asked.body === undefined ? undefined : JSON.stringify(asked.body);
    const sent = request({
      host: '127.0.0.1',
      port: asked.port,
      method: asked.method,
      path: asked.path,
      agent: asked.agent ?? false,
      headers: {
        'SVC-API-KEY': asked.key,
        'SVC-TRACE-ID': asked.trace,
        ...(text !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
        ...asked.headers,
      },
    });
    const timer = setTimeout(() => sent.destroy(new Error('no answer in time')), asked.timeoutMs);
    const finish = (ending: Ending): void => {
      clearTimeout(timer);
      resolve(ending);
    };
    const lose = (error: NodeJS.ErrnoException): void => {
      const reason = error.code ?? error.message;
      if (error.code === 'ECONNREFUSED') finish({ kind: 'unsent', reason });
      else finish({ kind: 'lost', reason, isReused: sent.reusedSocket });
    };
    sent.on('error', lose);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', lose);
      response.once('end', () => {
        const { location } = response.headers;
        const body = parse(Buffer.concat(chunks).toString());
        if (!response.complete) lose(new Error('the answer broke off'));
        else finish({ kind: 'answered', status: response.statusCode ?? 0, body, ...(location && { location }) });
      });
    });
    sent.end(text);
  });
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
