import type { Socket } from 'node:net';
import { connect } from 'node:net';

export interface LoadOptions {
  readonly port: number;
  /** Whole requests, as they go over the wire; sent one after the other, and again from the first. */
  readonly requests: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx. A benchmark with any is void. */
  readonly refused: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = /content-length: *(\d+)/i;

/**
 * Keeps every connection busy with one request at a time and reads answers with as little work as possible, so that the
 * server is what is measured.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  let refused = 0;
  let sent = 0;
  const nextRequest = (): string => options.requests[sent++ % options.requests.length] ?? '';
  let isOver = false;
  const startedMs = performance.now();
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => open(options.port)));
  const finished = sockets.map((socket) => drive(socket));
  const timer = setTimeout(() => {
    isOver = true;
  }, options.seconds * 1_000);
  await Promise.all(finished);
  clearTimeout(timer);
  const seconds = (performance.now() - startedMs) / 1_000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    requests: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    refused,
  };

  function drive(socket: Socket): Promise<void> {
    return new Promise((resolve, reject) => {
      let sentMs = performance.now();
      let pending: Buffer = Buffer.alloc(0);
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const headEnd = pending.indexOf(HEAD_END);
        if (headEnd === -1) return;
        const head = pending.toString('latin1', 0, headEnd);
        const length = Number(LENGTH.exec(head)?.[1] ?? 0);
        if (pending.length < headEnd + HEAD_END.length + length) return;
        pending = Buffer.alloc(0);
        if (head.charCodeAt(9) !== 0x32) refused += 1;
        latencies.push(performance.now() - sentMs);
        if (isOver) {
          socket.destroy();
          resolve();
          return;
        }
        sentMs = performance.now();
        socket.write(nextRequest());
      });
      socket.write(nextRequest());
    });
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.setNoDelay(true);
    socket.once('error', reject);
  });
}
