import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KeyStore } from '../../../crypto/key-store.js';
import type { TenantKeys } from '../../../crypto/tenant-keys.js';
import type { Database } from '../../../storage/database.js';
import type { LargeRow } from '../stored/row.js';
import { createOpener } from './open.js';

it('a large token is opened while another tenant’s wait for the database', async () => {
  const waiting: (() => void)[] = [];
  // Only these are asked: nothing is found, so there is nothing to open.
  const database = {
    read: (tenantId: string) =>
      tenantId === 'slow' ? new Promise((resolve) => waiting.push(() => resolve([]))) : Promise.resolve([]),
  } as unknown as Database;
  const keyring = { forRecords: () => ({}) as TenantKeys } as unknown as KeyStore['keyring'];
  const opener = createOpener({ database, keyring, onIntegrityFault: () => assert.fail() });
  const row = { id: 'large', sealed: null, sealed_bytes: 1_000_000 } as LargeRow;
  const open = (tenantId: string) => opener.openPaced(tenantId, [row], 0, (tokens) => tokens.length);
  const slow = [open('slow'), open('slow')];
  assert.equal(await open('neighbour'), 0);
  for (const end of waiting) end();
  assert.deepEqual(await Promise.all(slow), [0, 0]);
});
