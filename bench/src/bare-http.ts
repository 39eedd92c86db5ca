import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The floor: `node:http` that answers every request with the same bytes, and does nothing else. */
const [headers = '{}', body = ''] = process.argv.slice(2);
const answerHeaders: Record<string, string> = JSON.parse(headers);
const answer = Buffer.from(body);
const server = createServer((_request, response) => {
  response.writeHead(200, answerHeaders);
  response.end(answer);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`); // A TCP listener has one.
});
