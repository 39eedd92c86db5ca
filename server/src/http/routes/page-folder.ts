import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { PageFile, PageRoute } from './page-route.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};
const INDEX = 'index.html';
const COMPRESSED = ['.br', '.gz'];
const FILES_MAX = 1_000;

/**
 * The files of a folder as pages. The folder is listed when first asked, and only what the list names is ever read, by the path
 * the list gave: a request cannot name a file outside. Links and files of unknown types are left out. Contents stay in memory.
 */
export function folderFiles(root: string): PageRoute['find'] {
  const listed = once(() => list(root));
  return async ({ name }) => {
    const files = await listed();
    return (files.get(name) ?? files.get(name === '' ? INDEX : `${name}/${INDEX}`))?.();
  };
}

async function list(root: string): Promise<ReadonlyMap<string, () => Promise<PageFile>>> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true });
  const files = new Map<string, () => Promise<PageFile>>();
  for (const entry of entries) {
    // Beside the file it was made of.
    if (COMPRESSED.includes(extname(entry.name))) continue;
    const type = TYPES[extname(entry.name).toLowerCase()];
    if (!entry.isFile() || type === undefined) continue;
    if (files.size >= FILES_MAX)
      throw new Error(`${root} has more than ${FILES_MAX} files: point to the folder of the pages`);
    const path = join(entry.parentPath, entry.name);
    files.set(
      relative(root, path).split(sep).join('/'),
      once(async () => ({ type, content: await readFile(path), ...(await compressedOf(path)) })),
    );
  }
  return files;
}

/** What the build put beside it. */
async function compressedOf(path: string): Promise<Pick<PageFile, 'compressed'>> {
  const [br, gzip] = await Promise.all(COMPRESSED.map((ending) => readFile(`${path}${ending}`).catch(() => undefined)));
  return br || gzip ? { compressed: { ...(br && { br }), ...(gzip && { gzip }) } } : {};
}

/** All answers share one copy. What fails is tried again by the next one. */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}
