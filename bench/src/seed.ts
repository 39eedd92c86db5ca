import { runLoad } from './load/run.js';
import { call, cards, wire } from './requests.js';
import type { Workshop } from './workshop.js';

const BATCH = 100;
const CONNECTIONS = 8;

/** Makes so many tokens and returns their ids. */
export async function seedTokens(port: number, key: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  const body = cards(BATCH);
  const worker = async (): Promise<void> => {
    for (let left = count - ids.length; left > 0; left = count - ids.length) {
      const made: { id: string }[] = JSON.parse(await call(port, key, 'POST', '/tokenize', body));
      ids.push(...made.map(({ id }) => id));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return ids.slice(0, count);
}

/** Makes so many tokens through POST /tokenize as fast as it goes; gives tokens a second. */
export async function fillTokens(workshop: Workshop, port: number, key: string, count: number): Promise<number> {
  const request = wire('POST', '/tokenize', key, cards(BATCH));
  const requests = Array.from({ length: Math.ceil(count / BATCH) }, () => request);
  const startedMs = performance.now();
  // In pieces, because the whole of it would be a few hundred MB of text.
  for (let at = 0; at < requests.length; at += 500) {
    const piece = requests.slice(at, at + 500);
    const connections = Math.min(CONNECTIONS, piece.length);
    await runLoad(workshop, { port, requests: piece, connections, seconds: 600, isOnce: true });
  }
  return count / ((performance.now() - startedMs) / 1_000);
}
