import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Tests of these rooms share processes: to load the product takes longer than most of them. What watches a whole process (its
 * memory, its signals, its environment) or starts others has one of its own.
 */
const SHARING = /^server\/dist\/(access|audit|expressions|http|kernel|limits|mail|people|resources|telemetry|vault)\//;
const ALONE = [
  'http/transport/',
  'limits/memory-counter',
  'limits/redis-',
  'limits/store-breaker',
  'people/oidc/examine',
  'resources/proxies/',
  'resources/reactors/',
];
/** More would leave the last processes of a run without company. */
const FILES_MAX = 6;

export function isSharing(file: string): boolean {
  return SHARING.test(file) && !ALONE.some((part) => file.includes(part));
}

/** Test files in the groups that share a process, each of one room. */
export function batchesOf(files: readonly string[]): string[][] {
  const batches = new Map<string, string[][]>();
  for (const file of files) {
    const room = !isSharing(file) ? file : dirname(file).split('/').slice(0, 4).join('/');
    const ofRoom = batches.get(room) ?? [];
    const last = ofRoom.at(-1);
    if (last && last.length < FILES_MAX) last.push(file);
    else ofRoom.push([file]);
    batches.set(room, ofRoom);
  }
  return [...batches.values()].flat();
}

/** What the runner is given: a file as it is, or one that loads all of a batch. */
export async function writeBatches(folder: string, files: readonly string[]): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  return Promise.all(
    batchesOf(files).map(async (batch, number) => {
      const [first] = batch;
      if (batch.length === 1 && first !== undefined) return first;
      const path = join(folder, `batch-${number}.test.mjs`);
      const lines = batch.map((file) => `await import('${pathToFileURL(resolve(file)).href}');\n`);
      await writeFile(path, lines.join(''));
      return path;
    }),
  );
}
