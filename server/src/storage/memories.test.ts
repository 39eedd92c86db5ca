import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CacheRecord } from './memories.js';
import { createMemories } from './memories.js';
import type { Memory } from './memory.js';

interface Row {
  readonly tenantId: string;
}

const tenantOf = ({ tenantId }: Row) => tenantId;
const ROWS: CacheRecord<Row> = { name: 'rows', emptiedBy: ['tenant', 'access'], tenantOf };
const RIGHTS: CacheRecord<Row> = { name: 'rights', emptiedBy: ['access'], tenantOf };
const OPTIONS = { entriesMax: 10, bytesMax: 1_000, isTrusted: () => true };
/** Whether the row is still remembered: a loader that finds nothing tells. */
const isKept = async (memory: Memory<Row>, key: string) =>
  (await memory.find(key, async () => undefined)) !== undefined;

it('a notice empties the memories that name its kind, for its tenant alone; a gap empties all', async () => {
  const memories = createMemories([ROWS, RIGHTS], OPTIONS);
  const rows = memories.of(ROWS);
  const rights = memories.of(RIGHTS);
  const fill = async () => {
    for (const memory of [rows, rights]) {
      for (const tenantId of ['a', 'b']) await memory.find(tenantId, async () => ({ tenantId }));
    }
  };
  const kept = async () =>
    Promise.all([isKept(rows, 'a'), isKept(rows, 'b'), isKept(rights, 'a'), isKept(rights, 'b')]);
  await fill();
  assert.deepEqual(await kept(), [true, true, true, true]);
  memories.onChange({ kind: 'tenant', tenantId: 'a' });
  assert.deepEqual(await kept(), [false, true, true, true]);
  await fill();
  memories.onChange({ kind: 'access', tenantId: 'b' });
  assert.deepEqual(await kept(), [true, false, true, false]);
  await fill();
  memories.forgetAll();
  assert.deepEqual(await kept(), [false, false, false, false]);
});

it('there is no memory for a record that is in no list, since no notice would empty it', () => {
  assert.throws(() => createMemories([ROWS], OPTIONS).of(RIGHTS), /rights is declared by no slice/);
});
