import { readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { globFiles } from './files.js';

export interface Source {
  /** Path below `server/src`. */
  readonly path: string;
  readonly text: string;
  /** Paths below `server/src` that it imports; what lies elsewhere is in no room. */
  readonly imports: readonly string[];
  /** Names of packages it imports. */
  readonly packages: readonly string[];
}

const ROOT = 'server/src';
const IMPORT = /^(?:import|export)\s[^;]*?from '([^']+)';|^import '([^']+)';|\bimport\('([^']+)'\)/gm;

/** Every TypeScript source of the server with what it imports, read as text. */
export async function readSources(): Promise<Source[]> {
  const files = await globFiles([ROOT], '.ts');
  return Promise.all(
    files.map(async (file) => {
      const path = file.slice(ROOT.length + 1);
      const text = await readFile(file, 'utf8');
      const names = [...text.matchAll(IMPORT)].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '');
      return {
        path,
        text,
        imports: names
          .filter((name) => name.startsWith('.'))
          .map((name) => resolve(path, name))
          .filter((target) => !target.startsWith('..')),
        packages: names.filter((name) => !name.startsWith('.')),
      };
    }),
  );
}

function resolve(from: string, name: string): string {
  return normalize(join(dirname(from), name)).replace(/\.js$/, '.ts');
}

export function isTest(path: string): boolean {
  return /(\.test|-suite|-fixture|-program)\.ts$/.test(path) || path.startsWith('testing/');
}

/** The room of a file: its folder, or the file itself at the top. */
export function roomOf(path: string): string {
  const [first = ''] = path.split('/');
  return first.replace(/\.ts$/, '');
}
