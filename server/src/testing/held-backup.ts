import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { CommandSettings, Ended } from './command-runner.js';
import { ending, launch } from './command-runner.js';
import { eventually } from './eventually.js';

/** Enough that a backup can be stopped in the middle of them. */
const LOG_ROWS = 30_000;
/** The file that those rows go to. */
const FILE = 'logs.copy.gz.unfinished';
const BEGUN_BYTES = 20_000;

export async function insertManyLogs(owner: pg.Client, tenantId: string, count = LOG_ROWS): Promise<void> {
  await owner.query('SELECT ensure_log_partitions(now(), 0)');
  await owner.query(
    `INSERT INTO logs SELECT $1, now(), gen_random_uuid(), 'user', gen_random_uuid(), 'token', md5(n::text), 'read',
       md5((n * 7)::text), 'success', NULL, md5((n * 3)::text) FROM generate_series(1, $2::int) n`,
    [tenantId, count],
  );
}

export interface HeldBackup {
  /** Lets it go on and waits for its end. */
  resume(): Promise<Ended>;
  /** For a test that failed before. */
  kill(): void;
}

/** The real command, frozen in the middle of its largest table: its snapshot is taken and its locks are held. */
export async function holdBackup(settings: CommandSettings, folder: string): Promise<HeldBackup> {
  const child = launch(settings, 'backup', '--to', folder);
  const ended = ending(child);
  const file = join(folder, FILE);
  await eventually('the log is being copied', () => existsSync(file) && statSync(file).size > BEGUN_BYTES);
  child.kill('SIGSTOP');
  assert.ok(existsSync(file), 'it was stopped in the middle');
  return {
    async resume() {
      child.kill('SIGCONT');
      return ended;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
