import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const SKIPPED = new Set(['node_modules', '.git']);

/** Every file below the folders whose name ends so, sorted. */
export async function globFiles(folders: readonly string[], ending: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && path.endsWith(ending) && !path.split('/').some((part) => SKIPPED.has(part)))
        found.push(path);
    }
  }
  return found.sort();
}
