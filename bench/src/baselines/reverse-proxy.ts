import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Agent, request as ask } from 'node:https';

/** The baseline: `node:http` that forwards every request to a server over TLS as it is, on connections that stay open. */
const [port = '0', folder = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, ca: readFileSync(`${folder}/authority.pem`) });

const server = createServer((incoming, response) => {
  const { method, url: path, headers } = incoming;
  const outgoing = ask({ agent, host: '127.0.0.1', port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.writeHead(502).end());
  incoming.pipe(outgoing);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});
