import { connect } from 'node:net';
import { findProgram } from './find.js';
import type { RunningProgram } from './programs.js';
import { freePort, startProgram, untilUp } from './programs.js';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** The process id, while it runs. */
  readonly pid: () => number;
  /** Stands still without closing anything, and goes on. */
  pause(): void;
  resume(): void;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it again on the same port, empty, after `end`. */
  start(): Promise<void>;
}

/** A Redis server without persistence. */
export async function startRedis(): Promise<RedisServer> {
  const path = findProgram('redis-server');
  if (path === undefined) throw new Error('no redis-server is installed');
  const port = await freePort();
  let program: RunningProgram | undefined;
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    pid: () => program?.pid ?? 0,
    pause: () => void program?.child.kill('SIGSTOP'),
    resume: () => void program?.child.kill('SIGCONT'),
    async end(signal) {
      // A process that stands still would never see the polite signal.
      program?.child.kill('SIGCONT');
      await program?.end(signal);
      program = undefined;
    },
    async start() {
      const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'];
      const started = startProgram(path, args);
      program = started;
      await untilUp(started, () => answersPing(port));
    },
  };
  await server.start();
  return server;
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (answer) => {
      resolve(answer.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}
