import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { globFiles } from './files.js';

/** A test file and what the comments at its top say about it. */
export interface TestFile {
  /** The source, as people know it. */
  readonly source: string;
  /** The compiled file, which is run. */
  readonly compiled: string;
  /** Names from `// needs:`. A file that has any is left out of `npm test`. */
  readonly needs: readonly string[];
  /** Has a line `// alone: why`: it gets a process to itself. */
  readonly isAlone: boolean;
  /** Has a line `// attack: what`: it is run by `npm run test:attacks` alone. */
  readonly isAttack: boolean;
}

/** Source folder of each package with tests, and the folder its compiled files are in. */
const FOLDERS = [
  ['acceptance/src', 'acceptance/dist'],
  ['bench/src', 'bench/dist'],
  ['engine/src', 'engine/dist'],
  ['faults/src', 'faults/dist'],
  ['fuzz/src', 'fuzz/dist'],
  ['portal/build', 'portal/dist/build'],
  ['server/src', 'server/dist'],
  ['test-servers/src', 'test-servers/dist'],
  ['tools/src', 'tools/dist'],
] as const;
const HEADER = /^(?:\/\/.*\n)*/;

/** Every test file of the repository, sorted by path. */
export async function findTestFiles(): Promise<TestFile[]> {
  const found = await Promise.all(
    FOLDERS.map(async ([from, to]) => {
      const sources = await globFiles([from], '.test.ts');
      return Promise.all(
        sources.map(async (source) => {
          const compiled = `${to}${source.slice(from.length)}`.replace(/\.ts$/, '.js');
          return { source, compiled, ...readHeader(await readFile(source, 'utf8')) };
        }),
      );
    }),
  );
  return found.flat();
}

/** Reads the `// needs:`, `// alone:` and `// attack:` lines above the first statement. */
export function readHeader(text: string): Omit<TestFile, 'source' | 'compiled'> {
  const [header = ''] = HEADER.exec(text) ?? [];
  const needs = /^\/\/ needs: (.+)$/m.exec(header)?.[1]?.split(', ') ?? [];
  const has = (name: string): boolean => new RegExp(`^// ${name}: \\S`, 'm').test(header);
  return { needs, isAlone: has('alone'), isAttack: has('attack') };
}

/**
 * Splits files into groups that share a process, because loading the product takes longer than most files. Files in a group
 * are of one folder where possible and need the same programs. Files that run alone come first: the longest are among them, and
 * the last group of a run has no other beside it.
 */
export function groupFiles(files: readonly TestFile[], filesMax: number): TestFile[][] {
  const groups: TestFile[][] = [];
  const open = new Map<string, TestFile[]>();
  for (const file of files.toSorted((a, b) => Number(b.isAlone) - Number(a.isAlone))) {
    const key = `${packageOf(file.source)} ${file.needs.length > 0}`;
    const group = open.get(key);
    if (!file.isAlone && group !== undefined && group.length < filesMax) {
      group.push(file);
      continue;
    }
    const started = [file];
    groups.push(started);
    if (!file.isAlone) open.set(key, started);
  }
  return groups;
}

function packageOf(source: string): string {
  return dirname(source).split('/')[0] ?? '';
}
