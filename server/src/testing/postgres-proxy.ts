import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import type { ConnectionTarget } from '../storage/connection.js';

/**
 * What happens to what a client sends from now on.
 * - `pass`: it arrives.
 * - `cut before`: the connection breaks at the first COMMIT of a change, which the server never gets.
 * - `cut after`: the server gets that COMMIT, and the connection breaks before its answer comes back.
 * - `panic after`: the server gets that COMMIT, and its answer is that it goes down because a disk is full.
 * - `read-only after`: the same because a disk takes no more changes.
 * - `silent`: nothing is delivered any more, in either direction, and nothing is closed.
 */
export type Weather = 'pass' | 'cut before' | 'cut after' | 'panic after' | 'read-only after' | 'silent';

export interface PostgresProxy {
  readonly target: ConnectionTarget;
  setWeather(weather: Weather): void;
  close(): Promise<void>;
}

/** A simple query message with the word COMMIT in it, and the answer to it. */
const COMMIT_MESSAGE = Buffer.from('COMMIT\0');
/** What begins a transaction that changes nothing travels with its COMMIT, where all is asked for at once. */
const READ_ONLY_MESSAGE = Buffer.from('READ ONLY');

/** The last words of a server that goes down, as it says them: it calls a disk that takes no changes a missing right. */
const LAST_WORDS = new Map<Weather, Buffer>([
  ['panic after', panicMessage('53100', 'could not write to file: No space left on device')],
  ['read-only after', panicMessage('42501', 'could not write to file: Read-only file system')],
]);

/** Stands between a client and the server, on a unix socket of its own, and loses connections when told to. */
export async function startPostgresProxy(
  target: Extract<ConnectionTarget, { socketDir: string }>,
): Promise<PostgresProxy> {
  const socketDir = await mkdtemp('/tmp/sr-proxy-');
  const name = `.s.PGSQL.${target.port}`;
  const sockets = new Set<Socket>();
  let weather: Weather = 'pass';

  function keep(socket: Socket, other: Socket): void {
    sockets.add(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  }

  const server = createServer((client) => {
    const upstream = createConnection(join(target.socketDir, name));
    keep(client, upstream);
    keep(upstream, client);
    let isDeaf = false;
    client.on('data', (sent) => {
      const isCommit = sent.includes(COMMIT_MESSAGE) && !sent.includes(READ_ONLY_MESSAGE);
      if (weather === 'silent') return;
      if (weather === 'cut before' && isCommit) {
        client.destroy();
        return;
      }
      if ((weather === 'cut after' || LAST_WORDS.has(weather)) && isCommit) isDeaf = true;
      upstream.write(sent);
    });
    upstream.on('data', (answered) => {
      const lastWords = LAST_WORDS.get(weather);
      // Answers to what came with the COMMIT may come first; the server is left alone until it has made it.
      if (isDeaf && !answered.includes(COMMIT_MESSAGE)) return;
      if (isDeaf && lastWords) client.end(lastWords);
      else if (isDeaf) client.destroy();
      else if (weather !== 'silent') client.write(answered);
    });
  });
  await new Promise<void>((resolve) => server.listen(join(socketDir, name), resolve));

  return {
    target: { ...target, socketDir },
    setWeather(next) {
      weather = next;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(socketDir, { recursive: true, force: true });
    },
  };
}

/** An error message of the protocol: severity, state and text, each behind its letter. */
function panicMessage(state: string, text: string): Buffer {
  const fields = Buffer.from(`SPANIC\0VPANIC\0C${state}\0M${text}\0\0`);
  const message = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), fields]);
  message.writeUInt32BE(message.length - 1, 1);
  return message;
}
