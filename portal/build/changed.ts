import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

export interface ChangedBuild {
  readonly folder: string;
  /** Files and folders in it of which the result is made. */
  readonly sources: readonly string[];
  /** The file that names what the result was made from. */
  readonly stamp: string;
  readonly make: () => Promise<void>;
}

/** Makes the result again only when its sources changed, and says whether it did. */
export async function buildWhereChanged({ folder, sources, stamp, make }: ChangedBuild): Promise<'made' | 'unchanged'> {
  const wanted = await fingerprint(folder, sources);
  if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return 'unchanged';
  // What is broken off half-way is made again the next time.
  await rm(stamp, { force: true });
  await make();
  await writeFile(stamp, wanted);
  return 'made';
}

async function fingerprint(folder: string, sources: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) {
    for (const path of await filesIn(join(folder, source)))
      hash
        // A checkout that is moved as a whole keeps what was built in it.
        .update(relative(folder, path))
        .update('\0')
        .update(await readFile(path));
  }
  return hash.digest('hex');
}

/** The file itself, or all files below a folder, in an order that does not depend on the disk. */
export async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch(() => undefined);
  if (entries === undefined) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
