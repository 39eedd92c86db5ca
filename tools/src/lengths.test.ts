import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { globFiles } from './files.js';
import { functionsOf } from './functions.js';

/**
 * Lines of a function at most, from its signature to its closing bracket, blank ones and comments included. It counts for the
 * product and for tools. Lists of tests are not counted: test files, suites, and the acceptance suite.
 */
const LINES_MAX = 60;
const FOLDERS = ['server/src', 'bench/src', 'faults/src', 'fuzz/src', 'engine/src', 'test-servers/src', 'tools/src'];
const IS_LIST_OF_TESTS = /(\.test|-suite)\.ts$/;

describe('functions', () => {
  it(`have at most ${LINES_MAX} lines`, async () => {
    const long: string[] = [];
    for (const file of await globFiles(FOLDERS, '.ts')) {
      if (IS_LIST_OF_TESTS.test(file)) continue;
      for (const { line, lines, signature } of functionsOf(await readFile(file, 'utf8'))) {
        if (lines > LINES_MAX) long.push(`${file}:${line} has ${lines} lines: ${signature}`);
      }
    }
    assert.deepEqual(long, [], 'split these by what they are responsible for');
  });

  for (const [what, text, lines] of [
    ['a declaration', ['export function a(): void {', '  b();', '}'], [3]],
    ['a signature over several lines', ['function a(', '  b: number,', '): void {', '  c(b);', '}'], [5]],
    ['an object as parameter', ['function a({', '  b,', '}: {', '  b: number;', '}): void {', '  c(b);', '}'], [7]],
    [
      'methods, private ones and accessors',
      ['class A {', '  async #b(): Promise<void> {', '    c();', '  }', '}'],
      [3],
    ],
    ['an arrow with a body', ['const a = async (b: B): Promise<C> => {', '  c(b);', '};'], [3]],
    ['an arrow with a value in brackets', ['const a = () => [', '  1,', '  2,', '];'], [4]],
    ['an arrow with its value below', ['const a = () =>', '  b', '    .c();', 'd();'], [3]],
    ['a function inside another, both', ['function a() {', '  const b = () => {', '    c();', '  };', '}'], [5, 3]],
    ['text with brackets at its own indentation', ['function a() {', '  return `', '{', '`;', '}'], [5]],
    [
      'no condition, loop or call',
      ['if (a) {', '  b({', '    c,', '  });', '} else if (', '  d', ') {', '  e();', '}'],
      [],
    ],
    ['no class, type or object', ['export interface A {', '  b(): C;', '}', 'const d = {', '  e: f(),', '};'], []],
  ] as const) {
    it(`count: ${what}`, () => {
      assert.deepEqual(
        functionsOf(text.join('\n')).map((found) => found.lines),
        lines,
      );
    });
  }
});
