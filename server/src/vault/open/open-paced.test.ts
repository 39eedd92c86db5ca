import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KeyStore } from '../../crypto/key-store.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import type { Database } from '../../storage/database.js';
import type { LargeRow } from '../stored/row.js';
import { createOpener } from './open.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('a tenant reads one large piece at a time; what it waits for holds up no other tenant', async () => {
  const reading: { readonly tenantId: string; readonly end: () => void }[] = [];
  const database: Pick<Database, 'read'> = {
    // Nothing is found: only who reads when is looked at.
    read: <T>(tenantId: string) =>
      new Promise<T>((resolve) => reading.push({ tenantId, end: () => resolve([] as unknown as T) })),
  };
  const keyring: Pick<KeyStore['keyring'], 'forRecords'> = { forRecords: () => ({}) as TenantKeys };
  const opener = createOpener({
    database: database as Database, // Only this much is asked of them.
    keyring: keyring as KeyStore['keyring'],
    onIntegrityFault: () => assert.fail(),
  });
  const row = { id: 'large', sealed: null, sealed_bytes: 1_000_000 } as LargeRow; // No more is looked at.
  const open = (tenantId: string) => opener.openPaced(tenantId, [row], 0, (tokens) => tokens.length);
  const [first, second, other] = [open('a'), open('a'), open('b')];
  await settle();
  const tenants = () => reading.map(({ tenantId }) => tenantId);
  assert.deepEqual(tenants(), ['a', 'b']);
  reading[1]?.end();
  assert.equal(await other, 0);
  assert.deepEqual(tenants(), ['a', 'b'], 'the second of a tenant waits for its first');
  reading[0]?.end();
  assert.equal(await first, 0);
  await settle();
  assert.deepEqual(tenants(), ['a', 'b', 'a']);
  reading[2]?.end();
  assert.equal(await second, 0);
});
