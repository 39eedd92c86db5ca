import { randomBytes, randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { goalOf } from '../goals.js';
import type { LoadResult } from '../load/closed.js';
import { runLoad, runRefusableLoad } from '../load/run.js';
import { connectOwner } from '../owner.js';
import type { Findings, Table } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { card, wire } from '../requests.js';
import { seedTokens } from '../seed.js';
import type { Latencies } from '../statistics.js';
import { median, ratiosOf, spread } from '../statistics.js';
import { makeVaultTenant } from '../tenants.js';
import type { Cost } from '../watch/cost.js';
import { costOf } from '../watch/cost.js';

const ACCOUNTS = 10_000;
/** Of each kind in a round: every one of them is a password hashed. */
const SAMPLES = 15;
const SAMPLES_QUICK = 4;
const FLOOD_CONNECTIONS = 64;
/** Longer than a sign-in waits for its turn. */
const FLOOD_SECONDS = 12;
const FLOOD_ROUNDS_MAX = 3;
const NEIGHBOUR_CONNECTIONS = 4;
const TOKENS_TO_READ = 200;
/** Long enough for every place in the queue to be taken. */
const LEAD_MS = 2_000;
const SECONDS_MAX = 600;
/** Two hashes at a time of 128 MiB each (decision 44). */
const HASHES_MB = 256;

/** What an unknown account costs beside a known one, and what a flood of sign-ins does to somebody who does something else. */
export async function measureSignIn(bench: Bench): Promise<Findings> {
  const product = await startProduct(bench.workshop, { env: { STRONGROOM_TRUSTED_PROXIES: 'loopback' } });
  const [loadBefore = 0] = loadavg();
  await makeAccounts(product);
  const wrong = createWrongSignIns(product);
  const timing = await measureTiming(bench, product, wrong);
  const flood = await measureFlood(bench, product, wrong);
  await product.stop();
  const kept = ratiosOf(rates(flood.beside), rates(flood.alone));
  const added = flood.costs.map(({ rssMb }, round) => rssMb - (flood.aloneMb[round] ?? 0));
  const apart = timing.ratios.map((ratio) => Math.max(ratio, 1 / ratio));
  return {
    ...NOTHING,
    tables: [timingTable(timing), floodTable(flood), neighbourTable(flood)],
    goals: [
      goalOf('sign-in: memory added by a flood, MB', added, { most: HASHES_MB + 64 }, 0),
      goalOf('sign-in: p50 of unknown and known accounts, the larger through the smaller', apart, { most: 1.05 }),
    ],
    notes: [
      `Beside the flood the neighbour keeps ${spread(kept, 2)} of its rate.`,
      `The machine had a load average of ${loadBefore.toFixed(1)} when this part began, without any load of its own.`,
    ],
  };
}

/** Their hashes are of the right form and of no password: checking one costs the same. */
async function makeAccounts(product: Product): Promise<void> {
  const client = await connectOwner(product.socketDir);
  try {
    await client.query(
      `INSERT INTO users (id, email, email_key, created_at)
       SELECT gen_random_uuid(), 'known-' || n || '@bench.example', 'known-' || n || '@bench.example', now()
       FROM generate_series(0, $1::int - 1) n`,
      [ACCOUNTS],
    );
    const text = (bytes: number) => randomBytes(bytes).toString('base64url');
    await client.query(
      `INSERT INTO user_passwords (user_id, hash, changed_at) SELECT id, $1, now() FROM users WHERE email IS NOT NULL`,
      [`scrypt:17:8:1:${text(16)}:${text(32)}`],
    );
  } finally {
    await client.end();
  }
}

/** Makes a wrong sign-in from an address that nobody used before, so that it does not have to wait. */
type WrongSignIn = (kind: 'known' | 'unknown') => string;

function createWrongSignIns({ port }: Product): WrongSignIn {
  let tries = 0;
  return (kind) => {
    tries += 1;
    const email = kind === 'known' ? `known-${tries % ACCOUNTS}@bench.example` : `${randomUUID()}@bench.example`;
    const body = JSON.stringify({ email, password: 'a wrong password of some length' });
    const address = `10.${(tries >> 16) & 255}.${(tries >> 8) & 255}.${tries & 255}`;
    const headers = `Origin: http://127.0.0.1:${port}\r\nX-Forwarded-For: ${address}\r\n`;
    const head = `POST /portal/api/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}Content-Type: application/json\r\n`;
    return `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
}

interface Timing {
  readonly unknown: readonly Latencies[];
  readonly known: readonly Latencies[];
  /** By round. */
  readonly ratios: readonly number[];
}

/** One at a time on one connection, an unknown account and a known one in turn. */
async function measureTiming({ plan, workshop, say }: Bench, { port }: Product, wrong: WrongSignIn): Promise<Timing> {
  const samples = plan.isQuick ? SAMPLES_QUICK : SAMPLES;
  const found: { readonly unknown: Latencies[]; readonly known: Latencies[] } = { unknown: [], known: [] };
  for (let round = 0; round <= plan.rounds; round += 1) {
    const requests = Array.from({ length: 2 * samples }, (_, n) => wrong(n % 2 === 0 ? 'unknown' : 'known'));
    const options = { port, requests, connections: 1, seconds: SECONDS_MAX, isOnce: true, groups: 2 };
    const { groups, refused } = await runRefusableLoad(workshop, options);
    if (refused[401] !== requests.length) throw new Error(`not all were refused alike: ${JSON.stringify(refused)}`);
    const [unknown, known] = groups;
    if (round === 0 || !unknown || !known) continue;
    found.unknown.push(unknown);
    found.known.push(known);
  }
  const p50 = (rounds: readonly Latencies[]) => rounds.map(({ p50Ms }) => p50Ms);
  const ratios = ratiosOf(p50(found.unknown), p50(found.known));
  say(`unknown through known: ${spread(ratios, 2)}`);
  return { ...found, ratios };
}

interface Flood {
  readonly alone: readonly LoadResult[];
  readonly beside: readonly LoadResult[];
  readonly flood: readonly LoadResult[];
  readonly costs: readonly Cost[];
  /** Most memory of the API while the neighbour was alone, by round. */
  readonly aloneMb: readonly number[];
}

async function measureFlood({ plan, workshop, say }: Bench, product: Product, wrong: WrongSignIn): Promise<Flood> {
  const tenant = await makeVaultTenant(product);
  const ids = await seedTokens(product.port, tenant.key, TOKENS_TO_READ);
  const create = wire('POST', '/tokens', tenant.key, JSON.stringify(card()));
  // Creates and reads in turn, each with latencies of their own.
  const requests = ids.flatMap((id) => [create, wire('GET', `/tokens/${id}`, tenant.key)]);
  const { port } = product;
  const work = { port, requests, connections: NEIGHBOUR_CONNECTIONS, seconds: plan.seconds, groups: 2 };
  const found = {
    alone: [] as LoadResult[],
    beside: [] as LoadResult[],
    flood: [] as LoadResult[],
    costs: [] as Cost[],
    aloneMb: [] as number[],
  };
  for (let round = 0; round <= Math.min(plan.rounds, FLOOD_ROUNDS_MAX); round += 1) {
    const { result: alone, cost: quiet } = await costOf(product.watched, () => runLoad(workshop, work));
    const { result, cost } = await costOf(product.watched, () => runBoth(workshop, wrong, work));
    if (round === 0) continue;
    found.alone.push(alone);
    found.beside.push(result.neighbour);
    found.flood.push(result.flood);
    found.costs.push(cost);
    found.aloneMb.push(quiet.rssMb);
    say(`flood: ${answersOf(result.flood)}`);
  }
  return found;
}

async function runBoth(
  workshop: Bench['workshop'],
  wrong: WrongSignIn,
  work: Parameters<typeof runLoad>[1],
): Promise<{ readonly neighbour: LoadResult; readonly flood: LoadResult }> {
  const requests = Array.from({ length: 5_000 }, (_, n) => wrong(n % 2 === 0 ? 'unknown' : 'known'));
  const options = { port: work.port, requests, connections: FLOOD_CONNECTIONS, seconds: FLOOD_SECONDS };
  const flood = runRefusableLoad(workshop, options);
  await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
  const neighbour = await runLoad(workshop, work);
  return { neighbour, flood: await flood };
}

function rates(results: readonly LoadResult[]): number[] {
  return results.map(({ perSecond }) => perSecond);
}

function answersOf({ refused, seconds }: LoadResult): string {
  const counted = Object.entries(refused).map(([status, count]) => `${count} × ${status}`);
  return `${counted.join(', ')} in ${seconds.toFixed(0)} s`;
}

function timingTable({ unknown, known, ratios }: Timing): Table {
  const row = (name: string, rounds: readonly Latencies[]) => [
    name,
    spread(
      rounds.map(({ p50Ms }) => p50Ms),
      1,
    ),
    spread(
      rounds.map(({ p99Ms }) => p99Ms),
      1,
    ),
  ];
  return {
    title: `Wrong sign-ins one at a time, unknown and known accounts in turn; p50 of unknown through known ${spread(ratios, 2)}`,
    head: ['account', 'p50 ms', 'slowest of a round, ms'],
    rows: [row('unknown', unknown), row('known', known)],
  };
}

function floodTable({ flood, costs, aloneMb }: Flood): Table {
  const perSecond = (status: number) =>
    spread(
      flood.map(({ refused, seconds }) => (refused[status] ?? 0) / seconds),
      1,
    );
  return {
    title: `A flood of wrong sign-ins on ${FLOOD_CONNECTIONS} connections, each account and address a new one`,
    head: [
      'checked (401)/s',
      'told 503/s',
      'told 429/s',
      'p50 ms',
      'API cores',
      'PG cores',
      'RSS MB without',
      'RSS MB',
    ],
    rows: [
      [
        ...[401, 503, 429].map(perSecond),
        median(flood.map(({ p50Ms }) => p50Ms)).toFixed(0),
        ...[(cost: Cost) => cost.apiSeconds, (cost: Cost) => cost.databaseSeconds].map((of) =>
          median(costs.map((cost, round) => of(cost) / (flood[round]?.seconds ?? 1))).toFixed(2),
        ),
        Math.max(...aloneMb).toFixed(0),
        Math.max(...costs.map(({ rssMb }) => rssMb)).toFixed(0),
      ],
    ],
  };
}

function neighbourTable({ alone, beside }: Flood): Table {
  const row = (name: string, results: readonly LoadResult[]) => [
    name,
    spread(rates(results), 0),
    ...[0, 1].flatMap((group) => [
      median(results.map(({ groups }) => groups[group]?.p50Ms ?? 0)).toFixed(1),
      median(results.map(({ groups }) => groups[group]?.p99Ms ?? 0)).toFixed(1),
    ]),
  ];
  return {
    title: `A neighbour that creates and reads tokens on ${NEIGHBOUR_CONNECTIONS} connections`,
    head: ['', 'requests/s', 'create p50 ms', 'create p99 ms', 'read p50 ms', 'read p99 ms'],
    rows: [row('alone', alone), row('beside the flood', beside)],
  };
}
