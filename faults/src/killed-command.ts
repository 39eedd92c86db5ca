import { setTimeout as wait } from 'node:timers/promises';
import { startProgram } from '@strongroom/test-servers/programs.js';
import type { Cluster } from './cluster.js';
import type { Settings } from './product.js';
import { environment, MAIN } from './product.js';
import type { Random } from './random.js';

const NAME = 'killed';
const POLL_MS = 5;
const LIMIT_MS = 3_000;
const CONNECT_MAX_MS = 30_000;

export interface Kill {
  readonly cluster: Cluster;
  readonly random: Random;
  readonly settings: Settings;
  readonly words: readonly string[];
  /** So long after its first connection at most. */
  readonly withinMs: number;
}

/** What was killed, or undefined when the command was over before. */
export type Killed = 'process' | 'connection' | undefined;

/** Starts a command and kills it, or its connections, at a moment the seed says. Waits for its end. */
export async function killCommand({ cluster, random, settings, words, withinMs }: Kill): Promise<Killed> {
  const what = random.chance(0.7) ? 'process' : 'connection';
  const afterMs = random.between(0, withinMs);
  const client = await cluster.postgres.connect();
  const started = startProgram(process.execPath, [MAIN, ...words], { env: environment(named(settings)) });
  let hasEnded = false;
  const ended = started.exited.then(() => {
    hasEnded = true;
  });
  const abandon = (): void => void started.child.kill('SIGKILL');
  process.once('exit', abandon);
  try {
    const deadlineMs = performance.now() + CONNECT_MAX_MS;
    const own = `SELECT pid FROM pg_stat_activity WHERE application_name = $1`;
    while (!hasEnded && performance.now() < deadlineMs && (await client.query(own, [NAME])).rows.length === 0)
      await wait(POLL_MS);
    await Promise.race([wait(afterMs), ended]);
    if (hasEnded) return undefined;
    if (what === 'process') started.child.kill('SIGKILL');
    else await client.query(`SELECT pg_terminate_backend(pid) FROM (${own}) AS own`, [NAME]);
    // It may connect again and go on; the process is killed too in the end.
    const timer = setTimeout(abandon, LIMIT_MS);
    await ended;
    clearTimeout(timer);
    return what;
  } finally {
    process.removeListener('exit', abandon);
    abandon();
    await client.end();
  }
}

/** Its connections are known by their name. */
function named(settings: Settings): Settings {
  const urls = ['STRONGROOM_DATABASE_URL', 'STRONGROOM_MIGRATION_DATABASE_URL'].map((name) => [
    name,
    `${settings[name]}?application_name=${NAME}`,
  ]);
  return { ...settings, ...Object.fromEntries(urls) };
}
