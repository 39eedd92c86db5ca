import { get } from 'node:http';
import type { Duplex } from 'node:stream';

/** Where a process that was started with its inspector open says so. */
export const INSPECTOR = /Debugger listening on (ws:\/\/127\.0\.0\.1:\d+\/\S+)/;

const GIVE_UP_MS = 10_000;
const FINAL_TEXT = 0x81;
const MASKED = 0x80;

/** Lets a Node process collect its garbage through its inspector, so that what it holds afterwards is what it needs. */
export function collectGarbage(inspector: string): Promise<void> {
  const { port, pathname: path } = new URL(inspector);
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
