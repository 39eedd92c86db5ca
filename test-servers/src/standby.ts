import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { give } from './account.js';
import type { PostgresServer } from './postgres.js';
import { serverOn } from './postgres.js';
import { runProgram } from './programs.js';

/**
 * A streaming standby of a running server, caught up and open for reads. Its name is for synchronous_standby_names. In a
 * temporary folder unless told of an empty one, which then is the caller's to remove.
 */
export async function startStandby(
  primary: PostgresServer,
  name: string,
  settings: Readonly<Record<string, string>> = {},
  place?: string,
): Promise<PostgresServer> {
  const { binDir, ids } = primary;
  const dataDir = place ?? (await mkdtemp('/tmp/sr-standby-'));
  await give(dataDir, ids);
  const source = `host=127.0.0.1 port=${primary.port} user=postgres password=postgres application_name=${name}`;
  await runProgram(join(binDir, 'pg_basebackup'), ['-D', dataDir, '-d', source, '-R', '-X', 'stream', '-c', 'fast'], {
    ids,
  });
  const standby = await serverOn(dataDir, {
    binDir,
    ids,
    ...(place !== undefined && { dataDir: place }),
    settings: { ...settings, primary_conninfo: source },
  });
  await standby.start();
  return standby;
}

/** Makes a standby the primary, and waits until it takes changes. */
export async function promote(standby: PostgresServer): Promise<void> {
  const client = await standby.connect();
  try {
    await client.query('SELECT pg_promote(true, 30)');
  } finally {
    await client.end();
  }
}
