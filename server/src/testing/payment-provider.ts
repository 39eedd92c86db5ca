import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A payment provider that stands in on loopback: takes a charge with the right key, and declines one number. */
export async function startPaymentProvider(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => (text += piece));
    request.on('end', () => {
      const { number = '' } = JSON.parse(text || '{}') as { number?: string };
      const isKnown = request.headers.authorization === 'Bearer pk_test';
      const isGood = isKnown && request.url === '/charges' && number !== '4000000000000002';
      response.writeHead(isGood ? 201 : 402, { 'Content-Type': 'application/json' });
      const charge = { id: `ch_${number.slice(-4)}`, code: `auth-${number.slice(-4)}` };
      response.end(JSON.stringify(isGood ? charge : { reason: isKnown ? 'declined' : 'unknown key' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // It listens.
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
