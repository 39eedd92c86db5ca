import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to a request: it is done and its answer is lost, or it gets this answer and goes no further. */
export type Mishap = 'answer lost' | { readonly status: number; readonly headers: object; readonly body: string };

export interface FaultyWay {
  readonly address: string;
  /** Each request that came, as `POST /tokens` and its idempotency key. */
  readonly seen: (readonly [name: string, idempotencyKey: string])[];
  close(): Promise<void>;
}

/** Stands between a client and the product. The first request of each name meets its mishap, all others pass. */
export async function startFaultyWay(to: string, mishaps: Readonly<Record<string, Mishap>>): Promise<FaultyWay> {
  const due = new Map(Object.entries(mishaps));
  const seen: FaultyWay['seen'] = [];
  const server = createServer((request, response) => {
    const name = `${request.method} ${request.url?.split('?')[0]}`;
    const mishap = due.get(name);
    due.delete(name);
    seen.push([name, String(request.headers['svc-idempotency-key'])]);
    if (typeof mishap === 'object') {
      request.resume();
      response.writeHead(mishap.status, { ...mishap.headers }).end(mishap.body);
    } else passOn(to, request, response, mishap === 'answer lost');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // A TCP listener has one.
  return {
    address: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function passOn(to: string, request: IncomingMessage, response: ServerResponse, isAnswerLost: boolean): void {
  const options = { method: request.method, headers: { ...request.headers, host: new URL(to).host } };
  const onward = ask(to + request.url, options, async (answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    if (isAnswerLost) response.destroy();
    else response.writeHead(answer.statusCode ?? 502, answer.rawHeaders).end(Buffer.concat(chunks));
  });
  onward.once('error', () => response.destroy());
  request.pipe(onward);
}
