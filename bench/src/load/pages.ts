import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** Clients that ask for large answers, each again and again; some never read what they asked for. */
export interface PagesOptions {
  readonly port: number;
  /** With `Connection: close`: an answer ends with its connection. */
  readonly request: string;
  readonly clients: number;
  readonly isReading: boolean;
  readonly seconds: number;
}

export interface PagesResult {
  readonly whole: number;
  readonly refused: number;
  readonly brokenOff: number;
  readonly megabytes: number;
}

const RETRY_MS = 1_000;

const options: PagesOptions = JSON.parse(await text(process.stdin));
const untilMs = performance.now() + options.seconds * 1_000;
const result = { whole: 0, refused: 0, brokenOff: 0, megabytes: 0 };
await Promise.all(Array.from({ length: options.clients }, keepAsking));
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());

async function keepAsking(): Promise<void> {
  while (performance.now() < untilMs) {
    const outcome = await ask();
    if (outcome === 'over') return;
    result[outcome] += 1;
    if (outcome === 'refused') await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function ask(): Promise<'whole' | 'refused' | 'brokenOff' | 'over'> {
  return new Promise((resolve) => {
    const socket = connect(options.port, '127.0.0.1', () => socket.write(options.request));
    let status = '';
    let last = Buffer.alloc(0);
    const timer = setTimeout(() => {
      resolve('over');
      socket.destroy();
    }, untilMs - performance.now());
    if (!options.isReading) socket.pause();
    else
      socket.on('data', (piece) => {
        if (status === '') status = piece.toString('latin1', 9, 12);
        result.megabytes += piece.length / 1_000_000;
        last = piece;
      });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      if (status === '503') resolve('refused');
      else resolve(status === '200' && /[}\n]$/.test(last.toString('latin1')) ? 'whole' : 'brokenOff');
    });
  });
}
