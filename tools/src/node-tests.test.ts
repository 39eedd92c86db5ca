import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const RUNNER = fileURLToPath(new URL('./run-files.js', import.meta.url));
const FILE = `
import { describe, it } from 'node:test';
describe('whole', () => {
  it('runs', () => {});
  it('waits', { skip: 'no clock here' }, () => {});
});
describe('left out', { skip: 'no browser here' }, () => {
  it('never runs', () => {});
});
`;

it('names single tests and whole suites that did not run, with the reason', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-not-run-'));
  try {
    const file = join(folder, 'some.test.mjs');
    await writeFile(file, FILE);
    // Inside a test the runner would take itself for a part of it.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const printed = execFileSync(process.execPath, [RUNNER, file], { env, encoding: 'utf8' });
    const { passed, failed, notRun } = JSON.parse(printed.trim().split('\n').at(-1) ?? '');
    assert.deepEqual(
      [passed, failed, notRun],
      [
        1,
        0,
        [
          { file, name: 'waits', reason: 'no clock here' },
          { file, name: 'left out', reason: 'no browser here' },
        ],
      ],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
