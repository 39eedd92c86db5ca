import { get } from 'node:http';
import type { Duplex } from 'node:stream';

const OPENED = /Debugger listening on ws:\/\/127\.0\.0\.1:(\d+)(\/\S+)/;
const TRIES = 100;
const TRY_MS = 50;
const GIVE_UP_MS = 10_000;
const FINAL_TEXT = 0x81;
const MASKED = 0x80;

/**
 * Lets a Node process collect its garbage, so that what it holds afterwards is what it needs. Done through its inspector,
 * which SIGUSR1 opens: the program itself runs as it ships.
 */
export async function collectGarbage(pid: number, readOutput: () => Promise<string>): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  for (let left = TRIES; left > 0; left -= 1) {
    const [, port, path] = OPENED.exec(await readOutput()) ?? [];
    if (port !== undefined && path !== undefined) return ask(Number(port), path);
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
  throw new Error('the inspector did not open');
}

function ask(port: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the inspector did not answer')), GIVE_UP_MS);
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'c3Ryb25ncm9vbS1mdXp6IQ==',
    };
    const opening = get({ host: '127.0.0.1', port, path, headers });
    opening.once('error', reject);
    opening.once('upgrade', (_response, socket: Duplex) => {
      let text = '';
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        if (!text.includes('"id":2')) return;
        clearTimeout(timer);
        socket.destroy();
        resolve();
      });
      // Twice: the first may leave behind what finalizers let go of.
      for (const id of [1, 2]) socket.write(frame(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' })));
    });
  });
}

/** One short text message, masked with zeros as a client must mask it with something. */
function frame(text: string): Buffer {
  return Buffer.concat([Buffer.from([FINAL_TEXT, MASKED | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
}
