import { createHash } from 'node:crypto';
import type { LimitRow } from './catalogue.js';
import { rateScript } from './rate-script.js';
import type { RedisConnection } from './redis-connection.js';
import { redisCodeOf } from './redis-connection.js';

/** Counts shared by every node that has the same store. */
export interface RateStore {
  /** Milliseconds left of the block in each limit, 0 where there is none. Rejects when it cannot tell. */
  count(client: string, rows: readonly LimitRow[]): Promise<readonly number[]>;
  close(): void;
}

const PREFIX = 'strongroom:rl:';

/** One call a request. `readTime` is for tests that turn the clock by hand; what it needs arrives as `extra`. */
export function createRedisStore(
  connection: RedisConnection,
  readTime?: string,
  extra: () => readonly string[] = () => [],
): RateStore {
  const script = rateScript(readTime);
  const digest = createHash('sha1').update(script).digest('hex');

  async function run(args: readonly string[]): Promise<unknown> {
    try {
      return await connection.send(['EVALSHA', digest, ...args]);
    } catch (error) {
      // Restarted or flushed: it keeps the script again from here on. Nothing was counted yet.
      if (redisCodeOf(error) !== 'NOSCRIPT') throw error;
      return connection.send(['EVAL', script, ...args]);
    }
  }

  return {
    async count(client, rows) {
      // In a cluster the braces keep all limits of one client on one node.
      const keys = rows.map((row) => `${PREFIX}{${client}}:${row.name}`);
      const figures = rows.flatMap((row) => [String(row.requests), String(row.blockMs)]);
      return leftsOf(await run([String(keys.length), ...keys, ...figures, ...extra()]), rows);
    },
    close: connection.close,
  };
}

/** Whatever stands at the other end, only an answer of our script is believed. */
function leftsOf(reply: unknown, rows: readonly LimitRow[]): readonly number[] {
  if (reply === 0) return rows.map(() => 0);
  const lefts = Array.isArray(reply) ? reply.map((each: unknown) => Number(each) / 1_000) : [];
  const isSane = rows.every((row, at) => (lefts[at] ?? -1) >= 0 && (lefts[at] ?? 0) <= row.blockMs);
  if (lefts.length !== rows.length || !isSane || !lefts.some((left) => left > 0)) {
    throw new Error('the rate store gave an answer that is none');
  }
  return lefts;
}
