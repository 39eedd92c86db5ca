import type { Socket } from 'node:net';
import { createAnswerReader, isSuccess } from './answers.js';
import { open } from './closed.js';

export interface AlternatingOptions {
  /** Each gets as many requests, its own ones from the first to the last and again. */
  readonly targets: readonly { readonly port: number; readonly requests: readonly string[] }[];
  /** To each target, open throughout, one request at a time on each. */
  readonly connections: number;
  /** Requests to each target. */
  readonly count: number;
  /** So many go to one target before it is another's turn. */
  readonly slice: number;
}

export interface AlternatingResult {
  /** Answers that were not 2xx, by status. */
  readonly refused: Readonly<Record<number, number>>;
}

interface Target {
  readonly requests: readonly string[];
  readonly lines: Line[];
  sent: number;
}

interface Line {
  send(request: string, answered: (status: number) => void): void;
  close(): void;
}

/** Sends to several servers in short turns, so that whatever else the machine does meanwhile falls on all of them. */
export async function sendInTurns(options: AlternatingOptions): Promise<AlternatingResult> {
  const refused: Record<number, number> = {};
  const targets = await Promise.all(options.targets.map((target) => connectTo(target, options.connections)));
  let isTurned = false;
  for (let left = options.count; left > 0; left -= options.slice) {
    for (const target of isTurned ? [...targets].reverse() : targets) {
      await sendSlice(target, Math.min(left, options.slice), refused);
    }
    isTurned = !isTurned;
  }
  for (const { lines } of targets) for (const line of lines) line.close();
  return { refused };
}

function sendSlice(target: Target, count: number, refused: Record<number, number>): Promise<void> {
  let [toSend, toCome] = [count, count];
  return new Promise((resolve) => {
    const next = (line: Line): void => {
      if (toSend === 0) return;
      toSend -= 1;
      line.send(target.requests[target.sent++ % target.requests.length] ?? '', (status) => {
        if (!isSuccess(status)) refused[status] = (refused[status] ?? 0) + 1;
        toCome -= 1;
        if (toCome === 0) resolve();
        else next(line);
      });
    };
    for (const line of target.lines) next(line);
  });
}

async function connectTo({ port, requests }: AlternatingOptions['targets'][number], connections: number) {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const target: Target = { requests, lines: sockets.map(lineOn), sent: 0 };
  return target;
}

function lineOn(socket: Socket): Line {
  const answers = createAnswerReader();
  let answered: (status: number) => void = () => {};
  const fail = (): never => {
    throw new Error('the server closed a connection under load');
  };
  socket.on('error', fail);
  socket.on('end', fail);
  socket.on('data', (chunk) => {
    const status = answers.push(chunk);
    if (status !== undefined) answered(status);
  });
  return {
    send(request, then) {
      answered = then;
      socket.write(request);
    },
    close: () => socket.destroy(),
  };
}
