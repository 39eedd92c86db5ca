import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
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

/** Files of a server that speaks TLS and nothing else. */
export interface RedisTls {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

/** A Redis server without persistence. */
export async function startRedis(tls?: RedisTls): Promise<RedisServer> {
  const path = findProgram('redis-server');
  if (path === undefined) throw new Error('no redis-server is installed');
  const port = await freePort();
  let program: RunningProgram | undefined;
  const server: RedisServer = {
    port,
    url: `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
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
      const common = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'];
      const started = startProgram(path, [...portArgs(port, tls), ...common]);
      program = started;
      await untilUp(started, () => answersPing(port, tls !== undefined));
    },
  };
  await server.start();
  return server;
}

function portArgs(port: number, tls: RedisTls | undefined): string[] {
  if (tls === undefined) return ['--port', String(port)];
  const files = ['--tls-cert-file', tls.certificate, '--tls-key-file', tls.key, '--tls-ca-cert-file', tls.authority];
  return ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', ...files];
}

function answersPing(port: number, isTls: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const ping = (): void => void socket.write('PING\r\n');
    // Whether it is up is all that is asked here, not who it is.
    const socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, ping)
      : connect(port, '127.0.0.1', ping);
    socket.once('data', (answer) => {
      resolve(answer.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}
