import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import { connect } from 'node:tls';
import type { NameAnswer } from '@strongroom/test-servers/name-server.js';
import { A, startNameServer } from '@strongroom/test-servers/name-server.js';
import { freePort } from '@strongroom/test-servers/programs.js';
import { makeServerIdentity } from '@strongroom/test-servers/server-identity.js';
import type { Settings } from './product.js';

/** What somebody outside does with a request. */
export type Manner = 'well' | 'slowly' | 'hangs' | 'resets' | 'cuts' | 'garbage' | 'endless';

export interface Received {
  readonly manner: Manner;
  readonly path: string;
  readonly body: string;
}

/** Another company, on loopback: its server and whoever answers for its name. Both misbehave when told to. */
export interface Outside {
  /** What the nodes have to be started with to reach it. */
  readonly settings: Settings;
  readonly received: Received[];
  /** Decides for each path. */
  mannerOf: (path: string) => Manner;
  /** What its name leads to. */
  addresses: NameAnswer;
  /** Answers without an end that are being sent. */
  endless: number;
  /** From now on it shows a certificate of an authority that nobody trusts, or its own again. */
  pretend(isPretending: boolean): void;
  /** How many connections came to an address that nobody is allowed to reach. */
  trespasses: number;
  /** Goes there itself once, and tells whether that was counted. */
  isCounting(): Promise<boolean>;
  url(path: string): string;
  urlByName(path: string): string;
  close(): Promise<void>;
}

const NAME = 'pay.outside.test';
/** Allowed, and not. */
const ALLOWED = '127.0.0.1';
export const INSIDE = '127.0.0.2';
const PIECE = 'x'.repeat(65_536);

export async function startOutside(): Promise<Outside> {
  const identity = await makeServerIdentity(`DNS:${NAME},IP:${ALLOWED},IP:${INSIDE}`);
  const stranger = await makeServerIdentity(`DNS:${NAME},IP:${ALLOWED}`);
  const { key, cert } = identity;
  const server = createServer({ key, cert }, (request, response) => void take(outside, request, response));
  const inside = createServer({ key, cert }, (_request, response) => response.end('inside'));
  inside.on('connection', () => {
    outside.trespasses += 1;
  });
  const port = await freePort();
  await Promise.all([listen(server, port, ALLOWED), listen(inside, port, INSIDE)]);
  const names = await startNameServer((_name, type) => {
    const { addresses } = outside;
    return Array.isArray(addresses) && type !== A ? [] : addresses;
  });
  const outside: Outside = {
    settings: {
      STRONGROOM_OUTBOUND_ALLOW: `${ALLOWED}:${port}`,
      STRONGROOM_OUTBOUND_CA_FILE: identity.authorityFile,
      FAULTS_NAME_SERVER: `127.0.0.1:${names.port}`,
    },
    received: [],
    mannerOf: () => 'well',
    addresses: [ALLOWED],
    trespasses: 0,
    endless: 0,
    pretend: (isPretending) =>
      server.setSecureContext(isPretending ? { key: stranger.key, cert: stranger.cert } : { key, cert }),
    async isCounting() {
      await reach(port);
      const isCounted = outside.trespasses === 1;
      outside.trespasses = 0;
      return isCounted;
    },
    url: (path) => `https://${ALLOWED}:${port}${path}`,
    urlByName: (path) => `https://${NAME}:${port}${path}`,
    async close() {
      await Promise.all([closeServer(server), closeServer(inside), names.close()]);
      await Promise.all([identity.remove(), stranger.remove()]);
    },
  };
  return outside;
}

async function take(outside: Outside, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of request) pieces.push(piece);
  } catch {
    return;
  }
  const path = request.url ?? '';
  const manner = outside.mannerOf(path);
  outside.received.push({ manner, path, body: Buffer.concat(pieces).toString() });
  answer(outside, response, manner);
}

function answer(outside: Outside, response: ServerResponse, manner: Manner): void {
  // One request a connection, so that each is judged anew.
  if (manner === 'well') response.writeHead(200, { Connection: 'close' }).end('outside');
  if (manner === 'slowly') trickle(response.writeHead(200, { Connection: 'close' }), 'outside');
  if (manner === 'resets') response.socket?.destroy();
  if (manner === 'cuts') response.writeHead(200).write(PIECE, () => response.socket?.destroy());
  if (manner === 'garbage') response.socket?.end('not HTTP at all\r\n\r\n');
  if (manner !== 'endless') return;
  outside.endless += 1;
  response.once('close', () => {
    outside.endless -= 1;
  });
  writeOn(response.writeHead(200));
}

const TRICKLE_MS = 200;

/** A character now and then. */
function trickle(response: ServerResponse, text: string): void {
  if (text === '') {
    response.end();
    return;
  }
  response.write(text.charAt(0));
  setTimeout(() => trickle(response, text.slice(1)), TRICKLE_MS);
}

function writeOn(response: ServerResponse): void {
  while (!response.destroyed && response.write(PIECE));
  if (!response.destroyed) response.once('drain', () => writeOn(response));
}

function reach(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: INSIDE, rejectUnauthorized: false });
    socket.once('error', reject);
    // The server has answered a handshake by then, so it has counted.
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve();
    });
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
