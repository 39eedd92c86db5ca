import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { makeServerIdentity } from '@strongroom/test-servers/server-identity.js';

export interface PaymentProvider {
  readonly url: string;
  /** The same over TLS and by a name, which stored Proxies take. */
  readonly secureUrl: string;
  /** What a server has to be told to reach it. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** A payment provider that stands in on loopback: takes a charge with the right key, and declines one number. */
export async function startPaymentProvider(): Promise<PaymentProvider> {
  const plain = await listening(createServer(charge));
  const url = `http://127.0.0.1:${plain.port}`;
  const { key, cert, authorityFile, remove } = await makeServerIdentity('DNS:localhost');
  const secure = await listening(createTlsServer({ key, cert }, charge));
  return {
    url,
    secureUrl: `https://localhost:${secure.port}`,
    env: {
      STRONGROOM_OUTBOUND_ALLOW: `${url},localhost:${secure.port}`,
      STRONGROOM_OUTBOUND_CA_FILE: authorityFile,
    },
    async close() {
      await Promise.all([plain.close(), secure.close()]);
      await remove();
    },
  };
}

function charge(request: IncomingMessage, response: ServerResponse): void {
  let text = '';
  request.on('data', (piece) => (text += piece));
  request.on('end', () => {
    const { number = '' } = JSON.parse(text || '{}') as { number?: string };
    const isKnown = request.headers.authorization === 'Bearer pk_test';
    const isGood = isKnown && request.url === '/charges' && number !== '4000000000000002';
    response.writeHead(isGood ? 201 : 402, { 'Content-Type': 'application/json' });
    const made = { id: `ch_${number.slice(-4)}`, code: `auth-${number.slice(-4)}` };
    response.end(JSON.stringify(isGood ? made : { reason: isKnown ? 'declined' : 'unknown key' }));
  });
}

async function listening(server: Server): Promise<{ readonly port: number; close(): Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // It listens.
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
