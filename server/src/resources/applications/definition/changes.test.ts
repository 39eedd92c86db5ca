import assert from 'node:assert/strict';
import { it } from 'node:test';
import { operatorContext } from '../../../audit/entry.js';
import { AppError } from '../../../kernel/errors.js';
import type { ChangeOutcome, ChangesOptions } from './changes.js';
import { createChanges, noSuchKey } from './changes.js';

it('what a process remembers of access is dropped with a change and with one of unknown end, not with a refusal', async () => {
  const forgotten: string[] = [];
  const options = {
    database: { write: (_tenantId: string, work: (tx: undefined) => Promise<unknown>) => work(undefined) },
    forgetAccess: (tenantId: string) => forgotten.push(tenantId),
  } as unknown as ChangesOptions; // All that a change without a story looks at.
  const changes = createChanges(options);
  const run = (tenantId: string, work: () => Promise<ChangeOutcome<string>>) =>
    changes.run(tenantId, 'application', operatorContext(0), work);
  await assert.rejects(
    run('refused', async () => noSuchKey()),
    (error) => error instanceof AppError && error.code === 'not_found',
  );
  assert.deepEqual(forgotten, []);
  assert.equal(await run('changed', async () => ({ body: 'done' })), 'done');
  await assert.rejects(run('unknown', () => Promise.reject(new Error('the connection broke'))));
  assert.deepEqual(forgotten, ['changed', 'unknown']);
});
