import { once } from 'node:events';
import { connect } from 'node:net';
import { startRedis } from '@strongroom/test-servers/redis.js';
import { alternate } from '../alternate.js';
import type { Comparison } from '../comparison.js';
import { comparisonTable, loadNotes } from '../comparison.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import { sideOf } from '../paths.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { wire } from '../requests.js';

/** Enough that none of them comes near the thousand requests in ten seconds it may send. */
const ADDRESSES = 8_000;
const ENV = { STRONGROOM_RATE_LIMITS: 'on', STRONGROOM_TRUSTED_PROXIES: 'loopback' };

/** Counting requests in memory and in Redis, each against not counting at all. */
export async function measureRedis(bench: Bench): Promise<Findings> {
  const { workshop, plan } = bench;
  const redis = await startRedis();
  workshop.defer(() => redis.end('SIGTERM'));
  const none = await startProduct(workshop);
  const memory = await startProduct(workshop, { env: ENV });
  const shared = await startProduct(workshop, { env: { ...ENV, STRONGROOM_REDIS_URL: redis.url } });
  const side = (product: Product) => sideOf(bench, product, requestsOf(product));
  const [uncounted = [], inMemory = [], inRedis = []] = await alternate(plan.rounds, [
    side(none),
    side(memory),
    side(shared),
  ]);
  const scripts = await scriptCalls(redis.port);
  if (scripts === 0) throw new Error('the product counted nothing in Redis: this build ignores STRONGROOM_REDIS_URL');
  for (const product of [shared, memory, none]) await product.stop();
  const path = 'GET /tenants/self';
  const comparisons: Comparison[] = [
    { path: `${path}, counted in memory`, baseline: 'not counted', ours: inMemory, below: uncounted },
    { path: `${path}, counted in Redis`, baseline: 'not counted', ours: inRedis, below: uncounted },
    { path: `${path}, counted in Redis`, baseline: 'counted in memory', ours: inRedis, below: inMemory },
  ];
  const title = `What counting for the rate limits costs, 64 connections, ${ADDRESSES} client addresses`;
  return { ...NOTHING, tables: [comparisonTable(title, comparisons)], notes: loadNotes(comparisons) };
}

function requestsOf({ key }: Product): string[] {
  return Array.from({ length: ADDRESSES }, (_, n) => {
    const address = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    return wire('GET', '/tenants/self', key, '', `X-Forwarded-For: ${address}\r\n`);
  });
}

/** How often Redis ran a script or a function, by its own count. */
async function scriptCalls(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write('INFO commandstats\r\n');
  const [answer]: Buffer[] = await once(socket, 'data');
  socket.destroy();
  const found = [...String(answer).matchAll(/cmdstat_(?:evalsha|eval|fcall)[^:]*:calls=(\d+)/g)];
  return found.reduce((sum, [, calls]) => sum + Number(calls), 0);
}
