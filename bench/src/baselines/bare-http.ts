import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BareHttpOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The baseline: `node:http` that answers every request with the same bytes, and does nothing else. */
const [given = '{}'] = process.argv.slice(2);
const { headers, body }: BareHttpOptions = JSON.parse(given);
const answer = Buffer.from(body);
const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(answer);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`); // A TCP listener has one.
});
