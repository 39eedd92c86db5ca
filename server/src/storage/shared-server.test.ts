// needs: processes

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectAs } from '../testing/empty-database.js';
import { eventually } from '../testing/eventually.js';
import type { Defer } from './embedded/embedded-fixture.js';
import { lastFirst, temporaryFolder } from './embedded/embedded-fixture.js';
import type { Storage } from './open-storage.js';
import { openStorage } from './open-storage.js';

/** As a command does: it starts the embedded server, or joins the one another process has started. */
async function open(defer: Defer, dataDir: string, onWait?: () => void): Promise<Storage> {
  const storage = await openStorage({
    dataDir,
    databaseUrl: undefined,
    migrationDatabaseUrl: undefined,
    postgresBinDir: undefined,
    command: 'strongroom test',
    log: () => {},
    onLost: () => {},
    mayCreate: true,
    mayJoin: true,
    onWait,
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= storage.close());
  defer(close);
  return { ...storage, close };
}

test('a command that started the server keeps it until those who joined it have ended', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  let waits = 0;
  const first = await open(defer, dataDir, () => {
    waits += 1;
  });
  const second = await open(defer, dataDir);
  assert.deepEqual([first.isJoined, second.isJoined], [false, true]);
  let isClosed = false;
  const closing = first.close().then(() => {
    isClosed = true;
  });
  await eventually('it says that it waits', () => waits > 0);
  // Between two of its statements a command may have no connection in use: that must not look like its end.
  const owner = second.migration?.owner ?? assert.fail();
  for (let look = 0; look < 5; look += 1) {
    const client = await connectAs(owner);
    assert.equal((await client.query('SELECT 1')).rows.length, 1);
    await client.end();
  }
  assert.equal(isClosed, false);
  await second.close();
  await closing;
  assert.equal(waits, 1);
});

test('a command that is alone with the server it started ends at once', async (t) => {
  const defer = lastFirst(t);
  let waits = 0;
  const only = await open(defer, await temporaryFolder(defer), () => {
    waits += 1;
  });
  await only.close();
  assert.equal(waits, 0);
});
