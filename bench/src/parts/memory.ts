import { goalOf } from '../goals.js';
import type { PagesOptions, PagesResult } from '../load/pages.js';
import { runLoad } from '../load/run.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { call, wire } from '../requests.js';
import { runScript } from '../scripts.js';
import { seedTokens } from '../seed.js';
import { median, spread } from '../statistics.js';
import { makeVaultTenant } from '../tenants.js';
import { apiPids, residentMb } from '../watch/cost.js';

const TOKENS = 100;
/** As much as a body of 1 MiB brings. */
const TOKEN_BYTES = 1_048_000;
const SMALL = 1_000;
const NEIGHBOUR_CONNECTIONS = 16;
const SECONDS = 8;
const SECONDS_QUICK = 4;
/** Until the clients are under way. */
const HEAD_START_MS = 2_000;
const SAMPLE_MS = 50;

interface Case {
  readonly name: string;
  readonly request: string;
  readonly clients: number;
  readonly isReading: boolean;
  /** The neighbour's rate beside it, through its rate alone. */
  readonly least: number;
}

interface Outcome {
  readonly alone: number;
  readonly beside: number;
  readonly peakMb: number;
  readonly pages: PagesResult;
}

/** Clients that ask for much at once: what they cost in memory, and what a neighbour's small reads lose. */
export async function measureMemory(bench: Bench): Promise<Findings> {
  const product = await startProduct(bench.workshop);
  const neighbour = await makeVaultTenant(product);
  const key = await makeRevealingKey(product);
  const ids = await makeLarge(product, key);
  const small = await seedTokens(product.port, neighbour.key, SMALL);
  const reads = small.map((id) => wire('GET', `/tokens/${id}`, neighbour.key));
  const idleMb = await residentMb(await apiPids(product.pid));
  bench.say(`${TOKENS} tokens of 1 MiB, API ${idleMb.toFixed(0)} MB`);
  const rows: string[][] = [];
  const goals: Findings['goals'][number][] = [];
  for (const each of casesOf(key, ids)) {
    const outcomes: Outcome[] = [];
    for (let round = 0; round < bench.plan.rounds; round += 1) {
      outcomes.push(await runCase(bench, product, each, reads));
    }
    const peaks = outcomes.map(({ peakMb }) => peakMb);
    const kept = outcomes.map(({ alone, beside }) => beside / alone);
    const sum = (count: (pages: PagesResult) => number) =>
      outcomes.reduce((total, { pages }) => total + count(pages), 0).toFixed(0);
    rows.push([
      each.name,
      spread(peaks, 0),
      median(outcomes.map(({ alone }) => alone)).toFixed(0),
      median(outcomes.map(({ beside }) => beside)).toFixed(0),
      spread(kept, 2),
      sum(({ whole }) => whole),
      sum(({ refused }) => refused),
      sum(({ brokenOff }) => brokenOff),
    ]);
    goals.push(goalOf(`${each.name}: most memory of the API, MB`, [Math.max(...peaks)], { most: 350 }, 0));
    goals.push(goalOf(`${each.name}: the neighbour's rate through its rate alone`, kept, { least: each.least }));
  }
  await product.stop();
  const head = ['clients', 'peak RSS MB', 'alone/s', 'beside/s', 'kept', 'whole', 'refused', 'broken off'];
  return {
    ...NOTHING,
    tables: [
      {
        title: `Beside clients that ask for ${TOKENS} tokens of 1 MiB at once, small reads of a neighbour`,
        head,
        rows,
      },
    ],
    goals,
    notes: [`At rest with everything stored the API took ${idleMb.toFixed(0)} MB.`],
  };
}

function casesOf(key: string, ids: readonly string[]): Case[] {
  const closing = 'Connection: close\r\n';
  const page = wire('GET', '/tokens?size=100', key, '', closing);
  const body = JSON.stringify(ids.map((id) => `{{ ${id} | json: "$.end" }}`));
  const detokenize = wire('POST', '/detokenize', key, body, closing);
  return [
    { name: '64 that read pages', request: page, clients: 64, isReading: true, least: 0.5 },
    { name: '64 that read nothing', request: page, clients: 64, isReading: false, least: 0.5 },
    { name: '9 that detokenize', request: detokenize, clients: 9, isReading: true, least: 0.6 },
  ];
}

async function runCase(
  { plan, workshop, say }: Bench,
  product: Product,
  { name, request, clients, isReading }: Case,
  requests: readonly string[],
): Promise<Outcome> {
  const seconds = plan.isQuick ? SECONDS_QUICK : SECONDS;
  const load = { port: product.port, requests, connections: NEIGHBOUR_CONNECTIONS, seconds };
  const { perSecond: alone } = await runLoad(workshop, load);
  const pids = await apiPids(product.pid);
  let peakMb = 0;
  const timer = setInterval(async () => {
    peakMb = Math.max(peakMb, await residentMb(pids));
  }, SAMPLE_MS);
  const options: PagesOptions = {
    port: product.port,
    request,
    clients,
    isReading,
    seconds: seconds + (2 * HEAD_START_MS) / 1_000,
  };
  try {
    const running = runScript(workshop, 'load/pages', options);
    await new Promise((resolve) => setTimeout(resolve, HEAD_START_MS));
    const { perSecond: beside } = await runLoad(workshop, load);
    const pages: PagesResult = JSON.parse(await running);
    say(
      `${name}: ${alone.toFixed(0)} to ${beside.toFixed(0)} a second, ${peakMb.toFixed(0)} MB, ${JSON.stringify(pages)}`,
    );
    return { alone, beside, peakMb, pages };
  } finally {
    clearInterval(timer);
  }
}

async function makeLarge({ port }: Product, key: string): Promise<string[]> {
  const ids: string[] = [];
  const data = { text: 'x'.repeat(TOKEN_BYTES), end: 'the end' };
  while (ids.length < TOKENS) {
    const made: { id: string } = JSON.parse(await call(port, key, 'POST', '/tokens', JSON.stringify({ data })));
    ids.push(made.id);
  }
  return ids;
}

/** A key of the first tenant that is shown all data. */
async function makeRevealingKey({ port, key }: Product): Promise<string> {
  const permissions = ['token:create', 'token:read'];
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }];
  const body = JSON.stringify({ name: 'Benchmark', type: 'private', rules });
  const made: { key: string } = JSON.parse(await call(port, key, 'POST', '/applications', body));
  return made.key;
}
