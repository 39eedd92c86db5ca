import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RootKeyChanged } from '../crypto/key-store.js';
import { AppError, storageUnavailable } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { resumable } from './resumable.js';

const failing = (error: Error): Promise<unknown> =>
  resumable(() => Promise.reject(error)).then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  );

describe('a command that keeps its place', () => {
  it('69 when the database is lost: nothing is said to be unchanged, and the same command goes on', async () => {
    const lost = await failing(storageUnavailable(new Error('gone')));
    assert.ok(lost instanceof ExitError && lost.exitCode === EXIT.unavailable);
    assert.match(lost.message, /run the same command again/);
    assert.doesNotMatch(lost.message, /Nothing was changed/);
  });

  it('78 when the root key was changed meanwhile: with the new one it goes on', async () => {
    const changed = await failing(storageUnavailable(new RootKeyChanged('another')));
    assert.ok(changed instanceof ExitError && changed.exitCode === EXIT.configuration);
    assert.match(changed.message, /new root key/);
  });

  it('anything else stays what it is', async () => {
    const other = new AppError('not_found', 'No such tenant.');
    assert.equal(await failing(other), other);
  });
});
