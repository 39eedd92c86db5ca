import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createMemories } from './memories.js';
import type { Memory } from './memory.js';

interface Row {
  readonly tenantId: string;
}

const tenantOf = ({ tenantId }: Row) => tenantId;
/** Whether the row is still remembered: a loader that finds nothing tells. */
const isKept = async (memory: Memory<Row>, key: string) =>
  (await memory.find(key, async () => undefined)) !== undefined;

it('a notice empties the memories that name its kind, for its tenant alone; a gap empties all', async () => {
  const memories = createMemories({ entriesMax: 10, isTrusted: () => true });
  const rows = memories.open<Row>({ name: 'rows', emptiedBy: ['tenant', 'access'], tenantOf });
  const rights = memories.open<Row>({ name: 'rights', emptiedBy: ['access'], tenantOf });
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
