import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProduct } from './processes.js';
import { printTable, spread } from './report.js';

/** From the start of the process to the line that says it is ready: on an empty folder, and on the same folder later. */
export async function measureStartTime(key: string, rounds: number): Promise<void> {
  const empty: number[] = [];
  const later: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-start-'));
    for (const times of [empty, later]) {
      const startedMs = performance.now();
      const product = await startProduct({ dataDir, key });
      times.push((performance.now() - startedMs) / 1_000);
      await product.stop();
    }
    await rm(dataDir, { recursive: true, force: true });
  }
  printTable(
    'From process start to ready',
    ['folder', 'seconds', 'goal'],
    [
      ['empty', spread(empty, 2), '5.00'],
      ['used before', spread(later, 2), '2.00'],
    ],
  );
}
