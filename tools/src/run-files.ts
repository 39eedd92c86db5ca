import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from './run-tests.js';
import { findTestFiles } from './test-files.js';

/** Runs the named test files one after the other and prints the results as JSON in its last line. */
const folder = mkdtempSync(join(tmpdir(), 'strongroom-tests-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const named = process.argv.slice(2);
const files = (await findTestFiles()).filter(({ source }) => named.includes(source));
const { results, secondsByFile } = await runTests(
  files.map((file) => [file]),
  { folder, concurrency: 1 },
);
process.stdout.write(`\n${JSON.stringify({ results, secondsByFile: [...secondsByFile] })}\n`);
