import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeServerIdentity } from '@strongroom/test-servers/server-identity.js';

/** A request as it arrived. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Another company on this machine, which speaks TLS and notes what it is sent. */
export interface Destination {
  /** What the server has to be told to reach it. */
  readonly settings: Readonly<Record<string, string>>;
  readonly url: string;
  /** The same by a name, which stored Proxies must have. */
  readonly namedUrl: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/** Below this path everything is refused. */
export const DECLINED = { path: '/declined', status: 402, body: { decline_code: 'no_funds' } };

/** Each answer holds the number of its request, so that no answer can be taken for another. */
export async function startDestination(): Promise<Destination> {
  const { key, cert, authorityFile, remove } = await makeServerIdentity('IP:127.0.0.1,DNS:localhost');
  const received: Received[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const { method = '', url = '', headers } = request;
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      received.push({ method, url, headers, body: Buffer.concat(pieces).toString() });
      const isDeclined = url.startsWith(DECLINED.path);
      response.writeHead(isDeclined ? DECLINED.status : 200, {
        'Content-Type': 'application/json',
        'X-Order-Number': String(received.length),
        'Set-Cookie': 'visitor=1',
      });
      response.end(JSON.stringify(isDeclined ? DECLINED.body : { order_number: received.length }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      STRONGROOM_OUTBOUND_ALLOW: `127.0.0.1:${port},localhost:${port}`,
      STRONGROOM_OUTBOUND_CA_FILE: authorityFile,
    },
    url: `https://127.0.0.1:${port}`,
    namedUrl: `https://localhost:${port}`,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await remove();
    },
  };
}
