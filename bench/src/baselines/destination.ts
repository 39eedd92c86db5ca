import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';

/** Another company on loopback: a short answer for every request, or so many bytes. Its folder of certificates is the argument. */
const [folder = ''] = process.argv.slice(2);
const ANSWER = JSON.stringify({ id: 'ch_1', status: 'succeeded', note: 'x'.repeat(900) });
const PIECE = Buffer.alloc(65_536, 'x');

const options = { key: readFileSync(`${folder}/server.key`), cert: readFileSync(`${folder}/server.pem`) };
const server = createServer({ ...options, keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on('end', () => {
    const bytes = Number(/^\/bytes\/(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
    if (bytes > 0) return send(response.writeHead(200, { 'Content-Length': bytes }), bytes);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': ANSWER.length }).end(ANSWER);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});

function send(response: ServerResponse, left: number): void {
  let rest = left;
  while (rest > 0) {
    const piece = PIECE.subarray(0, Math.min(rest, PIECE.length));
    rest -= piece.length;
    if (!response.write(piece)) {
      const then = rest;
      response.once('drain', () => send(response, then));
      return;
    }
  }
  response.end();
}
