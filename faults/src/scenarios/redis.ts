import { connect } from 'node:net';
import { call } from '../call.js';
import type { Round, Scenario, Undo } from '../scenario.js';

/** Redis only counts: without it nothing fails, and nothing is unlimited. */
const COMMON = { needs: ['redis-server'], shortCount: 1, longCount: 10 } as const;

export const redisKill: Scenario = {
  ...COMMON,
  name: 'redis-kill',
  about: 'kill -9 of Redis, started again empty',
  inject: (round) =>
    during(round, async () => {
      await redisOf(round).end('SIGKILL');
      return () => redisOf(round).start();
    }),
};

export const redisStop: Scenario = {
  ...COMMON,
  name: 'redis-stop',
  about: 'SIGSTOP of Redis: connections stay open and nothing answers',
  inject: (round) =>
    during(round, async () => {
      redisOf(round).pause();
      return async () => redisOf(round).resume();
    }),
};

export const redisFlush: Scenario = {
  ...COMMON,
  name: 'redis-flush',
  about: 'FLUSHALL, SCRIPT FLUSH and CLIENT KILL under load',
  inject: (round) =>
    during(round, async () => {
      await say(redisOf(round).port, ['FLUSHALL', 'SCRIPT FLUSH', 'CLIENT KILL TYPE normal SKIPME yes']);
      return async () => {};
    }),
};

export const redisSlow: Scenario = {
  ...COMMON,
  name: 'redis-slow',
  about: 'every byte to and from Redis comes late',
  inject: (round) =>
    during(round, async () => {
      const ms = round.random.between(100, 1_500);
      round.cluster.redisProxy?.setWeather({ kind: 'latency', ms });
      return async () => round.cluster.redisProxy?.setWeather({ kind: 'pass' });
    }),
};

/** Breaks Redis, and holds the nodes to their promise while it is broken. */
async function during(round: Round, breakIt: () => Promise<Undo>): Promise<Undo> {
  const fromMs = performance.now();
  const undo = await breakIt();
  try {
    await round.pause(300, round.isLong ? 4_000 : 600);
    await checkLimited(round);
  } finally {
    await undo();
  }
  return async () => {
    const attempts = round.journal.operations.flatMap((operation) => operation.attempts);
    for (const { startedMs, outcome, note, trace } of attempts) {
      if (startedMs < fromMs || outcome === 'pending' || outcome === 'acknowledged') continue;
      if (!note.startsWith('429') && !note.includes('in_flight'))
        round.violate(`failed for want of Redis: ${trace} ${note}`);
    }
  };
}

const SEARCHES = 60;
const SEARCH_LIMIT = 50;
const TIMEOUT_MS = 15_000;

/** One address asks one node for more than its limit, and is refused. Without a good key, so that a busy database has no part in it. */
async function checkLimited(round: Round): Promise<void> {
  const node = round.random.pick(round.cluster.nodes);
  const address = `10.8.${round.random.between(0, 250)}.${round.random.between(0, 250)}`;
  const endings = await Promise.all(
    Array.from({ length: SEARCHES }, () =>
      call({
        port: node.port,
        method: 'POST',
        path: '/tokens/search',
        key: '',
        trace: 'over-the-limit',
        body: { query: 'id:nobody' },
        headers: { 'X-Forwarded-For': address },
        timeoutMs: TIMEOUT_MS,
      }),
    ),
  );
  const statuses = endings.map((ending) => (ending.kind === 'answered' ? ending.status : 0));
  const passed = statuses.filter((status) => status === 401).length;
  const refused = statuses.filter((status) => status === 429).length;
  if (passed + refused !== SEARCHES) round.violate(`searches without Redis were answered ${[...new Set(statuses)]}`);
  if (passed > SEARCH_LIMIT) round.violate(`${passed} searches passed where ${SEARCH_LIMIT} may`);
}

function redisOf(round: Round) {
  const { redis } = round.cluster;
  if (!redis) throw new Error('this scenario needs Redis');
  return redis;
}

/** Sends inline commands and reads nothing but the end of the last answer. */
function say(port: number, commands: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(`${commands.join('\r\n')}\r\nQUIT\r\n`));
    socket.resume();
    socket.once('close', () => resolve());
    socket.once('error', reject);
  });
}
