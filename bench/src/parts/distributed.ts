import { unlessCitus } from '@strongroom/test-servers/citus.js';
import type { Arrangement, Tenants } from '../distributed/arrangement.js';
import { makeTenants, startCluster, startPlain } from '../distributed/arrangement.js';
import type { LoneRequests } from '../distributed/lone.js';
import { measureLone } from '../distributed/lone.js';
import { DISTRIBUTED_PATHS } from '../distributed/paths.js';
import type { DistributedRound } from '../distributed/rounds.js';
import { idleCost, inTurns } from '../distributed/rounds.js';
import type { Findings, Table } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import { median, ratiosOf, spread } from '../statistics.js';

const TENANTS = [1, 16] as const;
const IDLE_SECONDS = 10;

/** The product on one server and on a cluster that Citus makes of three, by turns. */
export async function measureDistributed(bench: Bench): Promise<Findings> {
  const missing = unlessCitus();
  if (missing !== false) return { ...NOTHING, notRun: missing };
  const { workshop } = bench;
  const arrangements = [await startPlain(workshop), await startCluster(workshop)];
  // Before there is anything for autovacuum.
  const idleRows: string[][] = [];
  for (const arrangement of arrangements) {
    const ms = await idleCost(arrangement, IDLE_SECONDS);
    idleRows.push([arrangement.name, ...[0, 1, 2, 3].map((process) => ms[process]?.toFixed(0) ?? '')]);
  }
  const rows: string[][] = [];
  const lone: Tenants[] = [];
  for (const count of TENANTS) {
    const tenants: Tenants[] = [];
    for (const arrangement of arrangements) tenants.push(await makeTenants(workshop, arrangement, { count }));
    if (count === 1) lone.push(...tenants);
    rows.push(...(await underLoad(bench, arrangements, tenants)));
  }
  const loneRows = await oneAtATime(bench, arrangements, lone);
  return {
    ...NOTHING,
    tables: [
      { ...LOAD_TABLE, rows },
      { ...LONE_TABLE, rows: loneRows },
      { ...IDLE_TABLE, rows: idleRows },
    ],
  };
}

const LOAD_TABLE: Omit<Table, 'rows'> = {
  title: 'One server and a cluster under load, 64 connections (tokenize 8); processor time a request',
  head: [
    ...['path', 'tenants', 'database', 'requests/s', 'p50 ms', 'API CPU µs', 'coordinator CPU µs'],
    ...['worker 1 CPU µs', 'worker 2 CPU µs', 'load %', 'rate against one server', 'PG CPU against one server'],
  ],
};

async function underLoad(
  bench: Bench,
  arrangements: readonly Arrangement[],
  tenants: readonly Tenants[],
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const { name, connections, requests } of DISTRIBUTED_PATHS) {
    const count = String(tenants[0]?.keys.length ?? 0);
    bench.say(`${name}, ${count === '1' ? '1 tenant' : `${count} tenants`}`);
    const sides = arrangements.map((arrangement, place) => {
      const own = tenants[place];
      return { arrangement, requests: own ? requests(own) : [] };
    });
    const found = await inTurns(bench, sides, connections);
    const [plain = []] = found;
    for (const [place, rounds] of found.entries()) {
      rows.push([name, count, arrangements[place]?.name ?? '', ...figuresOf(rounds), ...against(rounds, plain)]);
    }
  }
  return rows;
}

function figuresOf(rounds: readonly DistributedRound[]): string[] {
  const middle = (figure: (round: DistributedRound) => number): number => median(rounds.map(figure));
  const servers = [0, 1, 2].map((server) => {
    const isThere = rounds.every(({ serversUs }) => server < serversUs.length);
    return isThere ? middle(({ serversUs }) => serversUs[server] ?? 0).toFixed(0) : '';
  });
  return [
    middle(({ perSecond }) => perSecond).toFixed(0),
    middle(({ p50Ms }) => p50Ms).toFixed(1),
    middle(({ apiUs }) => apiUs).toFixed(0),
    ...servers,
    (100 * middle(({ loadShare }) => loadShare)).toFixed(0),
  ];
}

function against(rounds: readonly DistributedRound[], plain: readonly DistributedRound[]): string[] {
  if (rounds === plain) return ['', ''];
  const ratios = (figure: (round: DistributedRound) => number): string =>
    spread(ratiosOf(rounds.map(figure), plain.map(figure)), 2);
  const ofServers = ({ serversUs }: DistributedRound): number => serversUs.reduce((sum, us) => sum + us, 0);
  return [ratios(({ perSecond }) => perSecond), ratios(ofServers)];
}

const LONE_TABLE: Omit<Table, 'rows'> = {
  title: 'Requests one at a time; round trips from the API to its server, and statements at each server, a request',
  head: [
    ...['path', 'database', 'p50 ms', 'round trips', 'statements', 'statements at worker 1', 'statements at worker 2'],
  ],
};

const IDLE_TABLE: Omit<Table, 'rows'> = {
  title: 'Processor time while nobody asks for anything, in milliseconds a second',
  head: ['database', 'API', 'coordinator', 'worker 1', 'worker 2'],
};

async function oneAtATime(
  { workshop, say }: Bench,
  arrangements: readonly Arrangement[],
  tenants: readonly Tenants[],
): Promise<string[][]> {
  const found: LoneRequests[][] = [];
  for (const [place, arrangement] of arrangements.entries()) {
    say(`one at a time, ${arrangement.name}`);
    const own = tenants[place];
    const lists = DISTRIBUTED_PATHS.map(({ requests }) => (own ? requests(own) : []));
    found.push(await measureLone(workshop, arrangement, lists));
  }
  return DISTRIBUTED_PATHS.flatMap(({ name }, path) =>
    arrangements.map((arrangement, place) => {
      const { p50Ms, roundTrips, statements } = found[place]?.[path] ?? { p50Ms: 0, roundTrips: 0, statements: [] };
      const counts = [0, 1, 2].map((server) => statements[server]?.toFixed(1) ?? '');
      return [name, arrangement.name, p50Ms.toFixed(2), roundTrips.toFixed(1), ...counts];
    }),
  );
}
