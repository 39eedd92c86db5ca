import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Latencies } from '../statistics.js';
import { latenciesOf } from '../statistics.js';
import { createAnswerReader, isSuccess } from './answers.js';

export interface LoadOptions {
  readonly port: number;
  /** Whole requests, as they go over the wire; sent one after the other, and again from the first unless `isOnce`. */
  readonly requests: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Each connection sends its own of the requests, again and again, so that none of them is under way twice. */
  readonly isPinned?: boolean;
  /** Ends when every request was sent. */
  readonly isOnce?: boolean;
  /** With g groups the requests 0, g, 2g … are the first, 1, g+1 … the second; each has latencies of its own. */
  readonly groups?: number;
}

export interface LoadResult extends Latencies {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Answers that were not 2xx, by status. A benchmark with any is void. */
  readonly refused: Readonly<Record<number, number>>;
  /** Processor time of the process that sent the load. */
  readonly cpuSeconds: number;
  readonly groups: readonly Latencies[];
}

/** Keeps every connection busy with one request at a time, so that the server is what is measured. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { requests, groups = 1 } = options;
  const timesMs: number[][] = Array.from({ length: groups }, () => []);
  const refused: Record<number, number> = {};
  let sent = 0;
  let isOver = false;
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => open(options.port)));
  const usedBefore = process.cpuUsage();
  const startedMs = performance.now();
  const timer = setTimeout(() => {
    isOver = true;
  }, options.seconds * 1_000);
  await Promise.all(sockets.map((socket, index) => drive(socket, index)));
  clearTimeout(timer);
  const seconds = (performance.now() - startedMs) / 1_000;
  const used = process.cpuUsage(usedBefore);
  const all = timesMs.flat();
  return {
    requests: all.length,
    seconds,
    perSecond: all.length / seconds,
    ...latenciesOf(all),
    refused,
    cpuSeconds: (used.user + used.system) / 1e6,
    groups: timesMs.map(latenciesOf),
  };

  function drive(socket: Socket, index: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let sentMs = 0;
      let group = 0;
      const answers = createAnswerReader();
      const next = (): void => {
        const request = requests[options.isPinned ? index : sent % requests.length];
        if (isOver || request === undefined || (options.isOnce && sent >= requests.length)) {
          socket.destroy();
          resolve();
          return;
        }
        group = sent % groups;
        sent += 1;
        sentMs = performance.now();
        socket.write(request);
      };
      socket.on('error', reject);
      socket.on('end', () => reject(new Error('the server closed a connection under load')));
      socket.on('data', (chunk) => {
        const status = answers.push(chunk);
        if (status === undefined) return;
        timesMs[group]?.push(performance.now() - sentMs);
        if (!isSuccess(status)) refused[status] = (refused[status] ?? 0) + 1;
        next();
      });
      next();
    });
  }
}

/** A connection that is ready to send. */
export function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.setNoDelay(true);
    socket.once('error', reject);
  });
}
