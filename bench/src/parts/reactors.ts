import { readFile } from 'node:fs/promises';
import type { Side } from '../alternate.js';
import { alternate } from '../alternate.js';
import type { Bound } from '../goals.js';
import { boundText, goalOf } from '../goals.js';
import type { LoadOptions } from '../load/closed.js';
import { runLoad, runRefusableLoad } from '../load/run.js';
import type { Findings, Goal } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { call, wire } from '../requests.js';
import { firstLine, scriptPath } from '../scripts.js';
import { median, spread } from '../statistics.js';
import type { ReactorTenant } from '../tenants.js';
import { makeReactorTenant } from '../tenants.js';
import { readProcesses, treeOf } from '../watch/process-tree.js';

const WARM_ADDED_MS: Bound = { most: 3 };
const COLD_BLANK_MS: Bound = { most: 40 };
const COLD_MS: Bound = { most: 150 };
const EIGHT_PER_SECOND: Bound = { least: 600 };
const BESIDE_LOOPS: Bound = { most: 4 };
const START_RATIO: Bound = { most: 1.1 };

const ECHO = 'module.exports = async ({ args }) => ({ raw: { last4: args.card.slice(-4), text: args.text } });';
const LOOP = 'module.exports = async () => { for (;;); };';
/** With namespaces and without. */
const ENGINE_NAMES = new Set(['engine', 'workerd']);
const EIGHT = 8;
const LOOPS = 100;
const MANY = 100;
const LEAD_MS = 2_000;
/** For a blank that was used to be started anew. */
const REFILL_MS = 400;

interface Row {
  readonly what: string;
  readonly values: readonly number[];
  readonly unit: string;
  readonly bound?: Bound;
  readonly digits?: number;
}

/** What running code behind a wall takes, and what a neighbour notices of it. */
export async function measureReactors(bench: Bench): Promise<Findings> {
  const rows: Row[] = [
    ...(await measureWarm(bench)),
    await measureCold(bench, 'cold, from a blank', { STRONGROOM_REACTOR_BLANKS: '2' }, COLD_BLANK_MS),
    await measureCold(bench, 'cold, without a blank', { STRONGROOM_REACTOR_BLANKS: '0' }, COLD_MS),
    await measureEight(bench),
    ...(await measureBesideLoops(bench)),
    ...(await measureMemory(bench)),
    await measureStartRatio(bench),
  ];
  for (const row of rows) bench.say(`${row.what}: ${spread(row.values, row.digits ?? 2)} ${row.unit}`);
  return {
    ...NOTHING,
    tables: [
      {
        title: 'Reactors: a call of 1 KB with one token',
        head: ['what', 'measured', 'unit', 'goal'],
        rows: rows.map(({ what, values, unit, bound, digits = 2 }) => [
          what,
          spread(values, digits),
          unit,
          boundText(bound),
        ]),
      },
    ],
    goals: rows.flatMap(({ what, values, bound, digits }): Goal[] =>
      bound ? [goalOf(`Reactors: ${what}`, values, bound, digits)] : [],
    ),
  };
}

async function makeReactor({ port }: Product, { managementKey }: ReactorTenant, code: string): Promise<string> {
  const made: { id: string } = JSON.parse(
    await call(port, managementKey, 'POST', '/reactors', JSON.stringify({ name: 'Measured', code })),
  );
  return made.id;
}

async function makeCard({ port }: Product, { key }: ReactorTenant): Promise<string> {
  const body = JSON.stringify({ type: 'card_number', data: '4242424242424242' });
  const made: { id: string } = JSON.parse(await call(port, key, 'POST', '/tokens', body));
  return made.id;
}

function reactBody(card: string): string {
  return JSON.stringify({ args: { card: `{{ ${card} }}`, text: 'x'.repeat(1_000) } });
}

/** The same call, by the product and by one that runs the code without a wall, on the same database and turn by turn. */
async function measureWarm({ plan, workshop }: Bench): Promise<Row[]> {
  const product = await startProduct(workshop);
  const tenant = await makeReactorTenant(product);
  const id = await makeReactor(product, tenant, ECHO);
  const request = wire('POST', `/reactors/${id}/react`, tenant.key, reactBody(await makeCard(product, tenant)));
  const inside = workshop.spawn([scriptPath('baselines/code-inside')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: product.env,
  });
  const port = Number(await firstLine(inside.child, /^(\d+)$/));
  const side = (at: number, pid: number): Side => ({
    watched: { api: pid, database: product.database },
    run: () => runLoad(workshop, { port: at, requests: [request], connections: 1, seconds: plan.seconds }),
  });
  const [ours = [], bare = []] = await alternate(plan.rounds, [
    side(product.port, product.pid),
    side(port, inside.child.pid ?? 0),
  ]);
  await inside.stop();
  await product.stop();
  const p50s = (rounds: typeof ours) => rounds.map(({ p50Ms }) => p50Ms);
  const added = ours.map(({ p50Ms }, n) => p50Ms - (bare[n]?.p50Ms ?? Number.NaN));
  return [
    { what: 'warm, p50', values: p50s(ours), unit: 'ms' },
    { what: 'the same without a wall, p50', values: p50s(bare), unit: 'ms' },
    { what: 'warm, added at p50', values: added, unit: 'ms', bound: WARM_ADDED_MS },
  ];
}

/** Each call the first one of a Reactor. */
async function measureCold({ plan, workshop }: Bench, what: string, env: ProductEnv, bound: Bound): Promise<Row> {
  const product = await startProduct(workshop, { env: { ...env, STRONGROOM_REACTOR_INSTANCES_PER_TENANT_MAX: '4' } });
  const tenant = await makeReactorTenant(product);
  const body = reactBody(await makeCard(product, tenant));
  const values: number[] = [];
  for (let round = 0; round <= plan.rounds; round += 1) {
    const times: number[] = [];
    for (let at = 0; at < (plan.isQuick ? 5 : 20); at += 1) {
      const id = await makeReactor(product, tenant, `${ECHO} // ${round} ${at}`);
      await pause(REFILL_MS);
      const startedMs = performance.now();
      await call(product.port, tenant.key, 'POST', `/reactors/${id}/react`, body);
      times.push(performance.now() - startedMs);
    }
    // The first round only warms up.
    if (round > 0) values.push(median(times));
  }
  await product.stop();
  return { what: `${what}, p50`, values, unit: 'ms', bound };
}

type ProductEnv = Readonly<Record<string, string>>;

async function measureEight({ plan, workshop }: Bench): Promise<Row> {
  const product = await startProduct(workshop);
  const tenants = await Promise.all(Array.from({ length: EIGHT }, () => makeReactorTenant(product)));
  const requests = await Promise.all(
    tenants.map(async (tenant) => {
      const id = await makeReactor(product, tenant, ECHO);
      return wire('POST', `/reactors/${id}/react`, tenant.key, reactBody(await makeCard(product, tenant)));
    }),
  );
  const values: number[] = [];
  for (let round = 0; round <= plan.rounds; round += 1) {
    const { port } = product;
    const load = { port, requests, connections: EIGHT, isPinned: true, seconds: plan.seconds };
    const { perSecond } = await runLoad(workshop, load);
    if (round > 0) values.push(perSecond);
  }
  await product.stop();
  return { what: `${EIGHT} Reactors warm`, values, unit: 'calls/s', bound: EIGHT_PER_SECOND, digits: 0 };
}

/** A tenant's warm calls alone, and beside another whose code loops on a hundred connections. */
async function measureBesideLoops(bench: Bench): Promise<Row[]> {
  const once = await besideLoops(bench, { isOnce: true });
  const again = await besideLoops(bench, {});
  const what = `warm, p99 beside ${LOOPS} calls that loop`;
  return [
    { what: 'warm, p99 alone', values: once.alone, unit: 'ms' },
    { what, values: once.beside, unit: 'ms' },
    { what: `${what}, against alone`, values: once.ratios, unit: 'times', bound: BESIDE_LOOPS },
    { what: `${what} and ask again when refused, against alone`, values: again.ratios, unit: 'times' },
  ];
}

interface Beside {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  readonly ratios: readonly number[];
}

async function besideLoops({ plan, workshop }: Bench, flood: Pick<LoadOptions, 'isOnce'>): Promise<Beside> {
  const product = await startProduct(workshop);
  const [quiet, loud] = [await makeReactorTenant(product), await makeReactorTenant(product)];
  const id = await makeReactor(product, quiet, ECHO);
  const request = wire('POST', `/reactors/${id}/react`, quiet.key, reactBody(await makeCard(product, quiet)));
  const loop = wire('POST', `/reactors/${await makeReactor(product, loud, LOOP)}/react`, loud.key, '{}');
  const options = { port: product.port, requests: [request], connections: 1, seconds: plan.seconds };
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round <= plan.rounds; round += 1) {
    const before = await runLoad(workshop, options);
    const loops = runRefusableLoad(workshop, {
      ...{ port: product.port, requests: Array.from({ length: LOOPS }, () => loop), connections: LOOPS },
      ...{ ...flood, seconds: plan.seconds + LEAD_MS / 1_000 },
    });
    await pause(LEAD_MS);
    const during = await runLoad(workshop, options);
    await loops;
    // The first round only warms up.
    if (round === 0) continue;
    alone.push(before.p99Ms);
    beside.push(during.p99Ms);
  }
  await product.stop();
  return { alone, beside, ratios: beside.map((ms, n) => ms / (alone[n] ?? Number.NaN)) };
}

/** Memory that is an instance's own, and of a hundred of them. */
async function measureMemory({ plan, workshop }: Bench): Promise<Row[]> {
  const many = plan.isQuick ? 10 : MANY;
  const bounds = {
    STRONGROOM_REACTOR_INSTANCES_MAX: String(many),
    STRONGROOM_REACTOR_INSTANCES_PER_TENANT_MAX: String(many),
  };
  const product = await startProduct(workshop, { env: { ...bounds, STRONGROOM_REACTOR_BLANKS: '0' } });
  const tenant = await makeReactorTenant(product);
  const body = reactBody(await makeCard(product, tenant));
  for (let at = 0; at < many; at += 1) {
    const id = await makeReactor(product, tenant, ECHO);
    await call(product.port, tenant.key, 'POST', `/reactors/${id}/react`, body);
  }
  const engines = treeOf(await readProcesses(), product.pid).filter(({ name }) => ENGINE_NAMES.has(name));
  const shares = await Promise.all(engines.map(({ pid }) => proportionalMb(pid)));
  await product.stop();
  if (shares.length !== many) throw new Error(`${shares.length} of ${many} instances are there`);
  const sum = shares.reduce((total, mb) => total + mb, 0);
  return [
    { what: `memory of an instance among ${many}`, values: shares, unit: 'MB', digits: 1 },
    { what: `memory of ${many} Reactors`, values: [sum], unit: 'MB', digits: 0 },
  ];
}

/** What a process has for itself, and its share of what it has together with others. */
async function proportionalMb(pid: number): Promise<number> {
  const [, kb = '0'] = /^Pss:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  return Number(kb) / 1_024;
}

/** Blanks are started when the service is ready, and must not keep it from that. */
async function measureStartRatio({ plan, workshop }: Bench): Promise<Row> {
  const ratios: number[] = [];
  const product = await startProduct(workshop);
  const { dataDir } = product;
  await product.stop();
  for (let round = 0; round <= plan.rounds; round += 1) {
    const seconds: number[] = [];
    for (const reactors of ['off', 'on']) {
      const started = await startProduct(workshop, { dataDir, env: { STRONGROOM_REACTORS: reactors } });
      seconds.push(started.readySeconds);
      await started.stop();
    }
    const [off = Number.NaN, on = Number.NaN] = seconds;
    if (round > 0) ratios.push(on / off);
  }
  return { what: 'start to ready, against Reactors off', values: ratios, unit: 'times', bound: START_RATIO };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
