import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startPostgres } from '@strongroom/test-servers/postgres.js';
import type { Round as Turn } from '../alternate.js';
import type { Bound } from '../goals.js';
import { boundText, goalOf } from '../goals.js';
import { runAlternating } from '../load/run.js';
import type { Findings, Goal } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { ProductOptions } from '../product.js';
import { CHECKOUT, startProduct } from '../product.js';
import { call, card, cardNumber, cards, wire } from '../requests.js';
import { seedTokens } from '../seed.js';
import { byUrl, SERVER_SETTINGS } from '../server-by-url.js';
import { median, ratiosOf, spread } from '../statistics.js';
import type { VaultTenant } from '../tenants.js';
import { makeVaultTenant } from '../tenants.js';
import type { Cost as Costs } from '../watch/cost.js';
import { lastingCostOf } from '../watch/cost.js';

const CONNECTIONS = 64;
const TOKENS_TO_READ = 2_000;
const TOKENIZED = 5;
/** Of a round's requests, before it is measured. */
const WARM_UP_SHARE = 1;
const QUICK_SHARE = 0.1;
/** So often in a round it is either build's turn. */
const SLICES = 20;
const GOAL: Bound = { most: 1.03 };
const HEAD = [
  'path',
  'earlier API µs',
  'this API µs',
  'API ratio',
  'earlier PG µs',
  'this PG µs',
  'PG ratio',
  'together',
  'goal',
] as const;

interface Path {
  readonly name: string;
  /** Requests of a round: about three seconds of work on a small machine. */
  readonly count: number;
  /** What is sent, again and again where it is fewer than so many. */
  readonly requests: (build: Build, port: number, count: number) => readonly string[] | Promise<string[]>;
}

const PATHS: readonly Path[] = [
  {
    name: 'create',
    count: 9_000,
    requests: ({ tenant }) => ONE_CARD.map((body) => wire('POST', '/tokens', tenant.key, body)),
  },
  {
    name: 'read',
    count: 15_000,
    requests: ({ tenant, ids }) => ids.map((id) => wire('GET', `/tokens/${id}`, tenant.key)),
  },
  {
    name: `tokenize ${TOKENIZED}`,
    count: 3_000,
    requests: ({ tenant }) => FEW_CARDS.map((body) => wire('POST', '/tokenize', tenant.key, body)),
  },
  {
    name: 'update',
    count: 4_000,
    requests: ({ tenant, ids }) => ids.map((id) => wire('PATCH', `/tokens/${id}`, tenant.key, CHANGE)),
  },
  {
    name: 'delete',
    count: 4_000,
    requests: async ({ tenant: { key } }, port, count) =>
      (await seedTokens(port, key, count)).map((id) => wire('DELETE', `/tokens/${id}`, key)),
  },
  { name: 'list 20', count: 2_000, requests: ({ tenant }) => [wire('GET', '/tokens?size=20', tenant.key)] },
  { name: 'search 20', count: 2_000, requests: ({ tenant }) => [wire('POST', '/tokens/search', tenant.key, SEARCH)] },
];
/** Were they all alike, whoever searches for one would find every token. */
const NUMBERS = Array.from({ length: 2_000 }, (_, n) => cardNumber(n));
const ONE_CARD = NUMBERS.map((number) => JSON.stringify(card(number)));
const FEW_CARDS = NUMBERS.map((number) => cards(TOKENIZED, number));
const CHANGE = JSON.stringify({ metadata: { changed: 'yes' } });
/** As many tokens have it as a page has room for, however many others are made. */
const RARE_NUMBER = '5555555555554444';
const SEARCHED = 20;
const SEARCH = JSON.stringify({ query: `data:${RARE_NUMBER}`, size: SEARCHED });

/** A checkout with a database of its own that lasts over the rounds. */
interface Build extends UsedDatabase {
  readonly checkout: string;
  readonly dataDir: string;
  readonly key: string;
  readonly tenant: VaultTenant;
  readonly ids: readonly string[];
}

type Round = Pick<Turn, 'apiUs' | 'databaseUs'>;
type Cost = Pick<Costs, 'apiSeconds' | 'databaseSeconds'>;

interface Found {
  readonly path: Path;
  readonly earlier: Round[];
  readonly ours: Round[];
}

/** What a request costs in processor time, this build against an earlier one, each on an embedded server of its own. */
export function measureBuilds(bench: Bench): Promise<Findings> {
  return compareBuilds(bench, async () => ({}));
}

/** The same on servers from packages. */
export function measureBuildsByUrl(bench: Bench): Promise<Findings> {
  return compareBuilds(bench, async () => {
    const postgres = await startPostgres({ settings: SERVER_SETTINGS });
    bench.workshop.defer(() => postgres.remove());
    return byUrl(postgres);
  });
}

type UsedDatabase = Pick<ProductOptions, 'env' | 'postmaster'>;

async function compareBuilds(bench: Bench, makeDatabase: () => Promise<UsedDatabase>): Promise<Findings> {
  const { plan, say } = bench;
  if (plan.against === undefined) throw new Error('there is nothing to compare with: --against names a checkout');
  const builds = {
    earlier: await prepare(bench, plan.against, await makeDatabase()),
    ours: await prepare(bench, CHECKOUT, await makeDatabase()),
  };
  const paths = PATHS.filter(({ name }) => plan.path === undefined || name === plan.path);
  if (paths.length === 0) throw new Error(`--path names one of ${PATHS.map(({ name }) => name).join(', ')}`);
  const found = paths.map((path): Found => ({ path, earlier: [], ours: [] }));
  for (let round = 0; round < plan.rounds; round += 1) {
    say(`round ${round + 1} of ${plan.rounds}`);
    await measureRound(bench, builds, found);
  }
  const names = [await commitOf(plan.against), await commitOf(CHECKOUT)];
  return {
    ...NOTHING,
    tables: [
      {
        title: `Processor time a request, ${names.join(' and ')}, ${CONNECTIONS} connections, ${plan.rounds} rounds`,
        head: HEAD,
        rows: found.map(rowOf),
      },
    ],
    goals: found.map(goal),
    notes: found.map(whereItWent),
  };
}

async function prepare({ workshop }: Bench, checkout: string, database: UsedDatabase): Promise<Build> {
  const product = await startProduct(workshop, { checkout, ...database });
  const tenant = await makeVaultTenant(product);
  const ids = await seedTokens(product.port, tenant.key, TOKENS_TO_READ);
  await call(product.port, tenant.key, 'POST', '/tokenize', cards(SEARCHED, RARE_NUMBER));
  await product.stop();
  return { checkout, ...database, dataDir: product.dataDir, key: product.key, tenant, ids };
}

/**
 * How well a process was compiled is luck that lasts for its life, so both are started anew for every round. Within a
 * round they are asked in short turns.
 */
async function measureRound(
  { plan, workshop }: Bench,
  builds: { readonly earlier: Build; readonly ours: Build },
  found: readonly Found[],
): Promise<void> {
  const earlier = await startProduct(workshop, builds.earlier);
  const ours = await startProduct(workshop, builds.ours);
  for (const { path, ...rounds } of found) {
    const all = Math.ceil(path.count * (plan.isQuick ? QUICK_SHARE : 1));
    const prepareSending = async (count: number): Promise<() => Promise<void>> => {
      const targets = [
        { port: earlier.port, requests: await path.requests(builds.earlier, earlier.port, count) },
        { port: ours.port, requests: await path.requests(builds.ours, ours.port, count) },
      ];
      const slice = Math.ceil(all / SLICES);
      return () => runAlternating(workshop, { targets, connections: CONNECTIONS, count, slice });
    };
    await (await prepareSending(Math.ceil(all * WARM_UP_SHARE)))();
    const send = await prepareSending(all);
    const [before, after] = await lastingCostOf([earlier.watched, ours.watched], send);
    if (before) rounds.earlier.push(roundOf(before, all));
    if (after) rounds.ours.push(roundOf(after, all));
  }
  await ours.stop();
  await earlier.stop();
}

function roundOf({ apiSeconds, databaseSeconds }: Cost, requests: number): Round {
  return { apiUs: (apiSeconds / requests) * 1e6, databaseUs: (databaseSeconds / requests) * 1e6 };
}

const apiOf = ({ apiUs }: Round): number => apiUs;
const databaseOf = ({ databaseUs }: Round): number => databaseUs;
const bothOf = (round: Round): number => round.apiUs + round.databaseUs;

function ratios({ earlier, ours }: Found, figure: (round: Round) => number): number[] {
  return ratiosOf(ours.map(figure), earlier.map(figure));
}

function rowOf(found: Found): string[] {
  const middle = (rounds: readonly Round[], figure: (round: Round) => number): string =>
    median(rounds.map(figure)).toFixed(0);
  return [
    found.path.name,
    middle(found.earlier, apiOf),
    middle(found.ours, apiOf),
    spread(ratios(found, apiOf), 3),
    middle(found.earlier, databaseOf),
    middle(found.ours, databaseOf),
    spread(ratios(found, databaseOf), 3),
    spread(ratios(found, bothOf), 3),
    boundText(GOAL),
  ];
}

function goal(found: Found): Goal {
  return goalOf(`${found.path.name}: processor time through that of the earlier build`, ratios(found, bothOf), GOAL, 3);
}

/** Which of the two processes a difference lies in. */
function whereItWent({ path, earlier, ours }: Found): string {
  const more = (figure: (round: Round) => number): string => {
    const us = median(ours.map((round, place) => figure(round) - figure(earlier[place] ?? round)));
    return `${us < 0 ? '' : '+'}${us.toFixed(1)} µs`;
  };
  const share = median(ours.map((round) => (100 * apiOf(round)) / bothOf(round))).toFixed(0);
  return `${path.name}: API ${more(apiOf)}, PostgreSQL ${more(databaseOf)} a request; the API is ${share} % of the whole.`;
}

/** By its commit, because folders say nothing to whoever reads the page. */
async function commitOf(checkout: string): Promise<string> {
  const git = (...words: string[]): Promise<{ stdout: string }> =>
    promisify(execFile)('git', ['-C', checkout, ...words]);
  try {
    const { stdout: commit } = await git('rev-parse', '--short', 'HEAD');
    const { stdout: changes } = await git('status', '--porcelain', '--untracked-files=no');
    return `${commit.trim()}${changes === '' ? '' : ' with changes'}`;
  } catch {
    return 'an unnamed build';
  }
}
