import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import type { ConnectionTarget } from '../storage/connection.js';

/**
 * What happens to what a client sends from now on.
 * - `pass`: it arrives.
 * - `cut before`: the connection breaks at the first COMMIT, which the server never gets.
 * - `cut after`: the server gets that COMMIT, and the connection breaks before its answer comes back.
 * - `panic after`: the server gets that COMMIT, and its answer is that it goes down because a disk is full.
 * - `silent`: nothing is delivered any more, in either direction, and nothing is closed.
 */
export type Weather = 'pass' | 'cut before' | 'cut after' | 'panic after' | 'silent';

export interface PostgresProxy {
  readonly target: ConnectionTarget;
  setWeather(weather: Weather): void;
  close(): Promise<void>;
}

/** A simple query message with the word COMMIT in it. */
const COMMIT_MESSAGE = Buffer.from('COMMIT\0');

/** An error message of the protocol: severity, state and text, each behind its letter. */
const PANIC_FIELDS = Buffer.from('SPANIC\0VPANIC\0C53100\0Mcould not write to file: No space left on device\0\0');
const PANIC_MESSAGE = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), PANIC_FIELDS]);
PANIC_MESSAGE.writeUInt32BE(PANIC_MESSAGE.length - 1, 1);

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
      const isCommit = sent.includes(COMMIT_MESSAGE);
      if (weather === 'silent') return;
      if (weather === 'cut before' && isCommit) {
        client.destroy();
        return;
      }
      if ((weather === 'cut after' || weather === 'panic after') && isCommit) isDeaf = true;
      upstream.write(sent);
    });
    upstream.on('data', (answered) => {
      if (isDeaf && weather === 'panic after') client.end(PANIC_MESSAGE);
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
