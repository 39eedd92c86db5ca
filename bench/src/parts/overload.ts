import { goalOf } from '../goals.js';
import type { OpenLoadResult, Second } from '../load/open.js';
import { runLoad, runOpenLoad } from '../load/run.js';
import type { OverloadVerdict } from '../overload-verdict.js';
import { judgeOverload } from '../overload-verdict.js';
import type { Plot } from '../page/plot.js';
import type { Findings, Table } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import type { Product } from '../product.js';
import { startProduct } from '../product.js';
import { card, wire } from '../requests.js';
import { median, spread } from '../statistics.js';
import { makeVaultTenant } from '../tenants.js';
import { apiPids, residentMb } from '../watch/cost.js';

const PEAK_CONNECTIONS = 64;
/** Twice what the product works on at once: fewer, and nothing would be refused. */
const CONNECTIONS = 512;
/** As many as come without a proxy in front that bounds them. */
const CONNECTIONS_MANY = 2_000;
const TIMES_PEAK = 4;
const CALM_SHARE = 0.5;
const CALM_SECONDS = 15;
const OVERLOAD_SECONDS = 60;
const OVERLOAD_SECONDS_QUICK = 10;
const MEMORY_MS = 1_000;

/** Creates at four times the rate the product can do, by the clock and not by its answers; then half the rate again. */
export async function measureOverload(bench: Bench): Promise<Findings> {
  const { plan, workshop } = bench;
  const product = await startProduct(workshop);
  const tenant = await makeVaultTenant(product);
  const { port } = product;
  const requests = [wire('POST', '/tokens', tenant.key, JSON.stringify(card()))];
  const peaks: number[] = [];
  for (let round = 0; round <= Math.max(3, plan.rounds); round += 1) {
    const closed = { port, requests, connections: PEAK_CONNECTIONS, seconds: plan.seconds };
    const { perSecond } = await runLoad(workshop, closed);
    if (round > 0) peaks.push(perSecond);
  }
  const peak = median(peaks);
  bench.say(`peak ${peak.toFixed(0)} a second`);
  const few = await overloadOn(bench, product, requests, peak, CONNECTIONS);
  const many = await overloadOn(bench, product, requests, peak, CONNECTIONS_MANY);
  await product.stop();

  const { verdict, phases, seconds, memoryMb } = few;
  return {
    ...NOTHING,
    tables: [few, many].map((run) => tableOf(run, peaks)),
    goals: [
      goalOf('overload: goodput through peak', [verdict.goodput / peak], { least: 0.8 }),
      goalOf('overload: p99 of refusals, ms', [phases[1]?.refusedP99Ms ?? 0], { most: 100 }, 0),
      goalOf('overload: memory at its end through memory near its start', [verdict.memoryGrowth], { most: 1.1 }),
      goalOf('overload: seconds until answers are as before', [verdict.secondsToNormal], { most: 10 }, 0),
      goalOf('overload: answers that were neither 2xx nor a refusal', [verdict.wrong], { most: 0 }, 0),
    ],
    plots: [ratesPlot(seconds), latencyPlot(seconds, memoryMb)],
    notes: [few, many].map(noteOn),
  };
}

interface OverloadRun {
  readonly connections: number;
  readonly overload: { readonly seconds: number; readonly perSecond: number };
  readonly verdict: OverloadVerdict;
  readonly seconds: readonly Second[];
  readonly phases: OpenLoadResult['phases'];
  readonly memoryMb: readonly number[];
  /** Of the load process. */
  readonly cores: number;
}

async function overloadOn(
  { plan, workshop }: Bench,
  { port, pid }: Product,
  requests: readonly string[],
  peak: number,
  connections: number,
): Promise<OverloadRun> {
  const calm = { seconds: plan.isQuick ? 5 : CALM_SECONDS, perSecond: Math.round(peak * CALM_SHARE) };
  const overload = {
    seconds: plan.isQuick ? OVERLOAD_SECONDS_QUICK : OVERLOAD_SECONDS,
    perSecond: Math.round(peak * TIMES_PEAK),
  };
  const pids = await apiPids(pid);
  const memoryMb: number[] = [];
  const timer = setInterval(() => void residentMb(pids).then((mb) => memoryMb.push(mb)), MEMORY_MS);
  const after = { ...calm, seconds: Math.max(calm.seconds, 12) };
  const options = { port, requests, connections, phases: [calm, overload, after] };
  const { seconds, phases, cpuSeconds } = await runOpenLoad(workshop, options).finally(() => clearInterval(timer));
  const verdict = judgeOverload(seconds, calm.seconds, overload.seconds, memoryMb);
  return { connections, overload, verdict, seconds, phases, memoryMb, cores: cpuSeconds / seconds.length };
}

function tableOf({ connections, overload, verdict, phases }: OverloadRun, peaks: readonly number[]): Table {
  const head = ['phase', 'offered/s', 'done/s', 'refused/s', 'not sent/s', 'lost', 'other answers'];
  return {
    title: `Creates, ${overload.perSecond} offered a second for ${overload.seconds} s on at most ${connections} connections; peak ${spread(peaks, 0)} a second`,
    head: [...head, 'done p99 ms', 'refused p99 ms'],
    rows: verdict.phases.map((phase, place) => [
      phase.name,
      ...[phase.offered, phase.ok, phase.refused, phase.unsent, phase.lost, phase.wrong].map((n) => n.toFixed(0)),
      (phases[place]?.okP99Ms ?? 0).toFixed(0),
      (phases[place]?.refusedP99Ms ?? 0).toFixed(0),
    ]),
  };
}

function noteOn({ connections, memoryMb, cores, verdict }: OverloadRun): string {
  const most = Math.max(0, ...memoryMb).toFixed(0);
  return `With ${connections} connections: most memory of the API ${most} MB; the load process took ${cores.toFixed(2)} cores and sent at most ${verdict.lagMs.toFixed(0)} ms late.`;
}

function ratesPlot(seconds: readonly Second[]): Plot {
  const line = (name: string, value: (second: Second) => number) => ({
    name,
    isLine: true,
    points: seconds.map((second, x) => ({ x, y: value(second), low: value(second), high: value(second) })),
  });
  return {
    name: 'overload',
    title: 'Overload: what was offered and what became of it',
    x: { label: 'second', scale: 'linear' },
    y: { label: 'requests a second', scale: 'linear' },
    series: [
      line('offered', ({ offered }) => offered),
      line('done', ({ ok }) => ok),
      line('refused', ({ refused }) => refused),
      line('not sent', ({ unsent }) => unsent),
    ],
  };
}

function latencyPlot(seconds: readonly Second[], memoryMb: readonly number[]): Plot {
  const line = (name: string, values: readonly number[]) => ({
    name,
    isLine: true,
    points: values.flatMap((y, x) => (y > 0 ? [{ x, y, low: y, high: y }] : [])),
  });
  return {
    name: 'overload-latency',
    title: 'Overload: answers and memory',
    x: { label: 'second', scale: 'linear' },
    y: { label: 'ms, or MB', scale: 'log' },
    series: [
      line(
        'p99 ms of what was done',
        seconds.map(({ okP99Ms }) => okP99Ms),
      ),
      line(
        'p99 ms of refusals',
        seconds.map(({ refusedP99Ms }) => refusedP99Ms),
      ),
      line('memory of the API, MB', memoryMb),
    ],
  };
}
