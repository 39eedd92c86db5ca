import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { manifestText, parseManifest } from './manifest.js';

function withMonths(logMonths: readonly string[]): string {
  return manifestText({
    productVersion: '0.4.0',
    createdAt: '2026-11-15T12:00:00.000Z',
    rootKeyId: undefined,
    isRootKeyChanging: false,
    migrations: [{ version: 1, name: 'roles', checksum: '0'.repeat(64) }],
    logMonths,
    tables: [],
  });
}

describe('the months of a manifest', () => {
  it('are read as they were written, from the first year to the last one a name has room for', () => {
    const months = ['0001_01', '2024_02', '2026_12', '9999_12'];
    assert.deepEqual(parseManifest(withMonths(months)).logMonths, months);
  });

  for (const month of [
    '0000_01',
    '0000_12',
    '2024_00',
    '2024_13',
    '2024_1',
    '24_01',
    '2024-01',
    '2024_01\n',
    '',
    '02024_01',
  ]) {
    it(`damaged, with nothing changed, when one is ${JSON.stringify(month)}`, () => {
      assert.throws(
        () => parseManifest(withMonths(['2026_11', month])),
        (error) =>
          error instanceof ExitError &&
          error.exitCode === EXIT.failure &&
          /damaged.*Nothing was changed/.test(error.message),
      );
    });
  }
});
