import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { ask } from './beside-load.js';
import type { Ending } from './call.js';
import type { Cluster } from './cluster.js';
import type { ApiNode } from './node.js';
import { textAt } from './plan.js';
import { killTree } from './processes.js';
import type { Round } from './scenario.js';
import type { Spread } from './spread.js';
import { tenantsByWorker } from './spread.js';
import type { LoadTenant } from './tenants.js';

/** A worker that is to be gone, whose tenants it takes along, and who must not notice. */
export interface WorkerGone {
  readonly number: number;
  readonly server: PostgresServer;
  readonly itsTenants: readonly LoadTenant[];
  readonly otherTenants: readonly LoadTenant[];
}

export function spreadOf(cluster: Cluster): Spread {
  if (!cluster.spread) throw new Error('the database of this cluster is not spread');
  return cluster.spread;
}

export async function chooseWorker(round: Round): Promise<WorkerGone> {
  const { cluster, random } = round;
  const spread = spreadOf(cluster);
  const byWorker = await tenantsByWorker(cluster.postgres, spread, cluster.tenants);
  // After a shard was moved one of them may have no tenant.
  const number = random.pick([...byWorker.keys()].filter((n) => byWorker[n]?.length !== 0));
  const server = spread.workers[number];
  if (!server) throw new Error(`there is no worker ${number}`);
  return {
    number,
    server,
    itsTenants: byWorker[number] ?? [],
    otherTenants: byWorker.filter((_, n) => n !== number).flat(),
  };
}

export async function killServer(server: PostgresServer): Promise<void> {
  await killTree(server.pid());
  await server.end('SIGKILL');
}

/** Nobody on a healthy worker has to wait for another one. The rest is for a machine that is busy with other things. */
const HEALTHY_MAX_MS = 4_000;

/**
 * A node that has never seen a key: tenants on the other workers are served, with everything read for the first time,
 * and those of the worker that is gone are told so in time.
 */
export async function checkCold(round: Round, node: ApiNode, gone: WorkerGone, goneMaxMs: number): Promise<void> {
  const asked: Promise<void>[] = [];
  const judge = async (name: string, maxMs: number, ask: () => Promise<Ending>, good: number): Promise<void> => {
    const fromMs = performance.now();
    const ending = await ask();
    const tookMs = performance.now() - fromMs;
    const told = ending.kind === 'answered' ? `${ending.status} ${textAt(ending.body, 'detail')}` : ending.reason;
    const isGood = ending.kind === 'answered' && ending.status === good;
    if (!isGood || tookMs > maxMs) round.violate(`cold node: ${name}: ${told} after ${Math.round(tookMs)} ms`);
  };
  for (const tenant of round.cluster.tenants) {
    const isGone = gone.itsTenants.includes(tenant);
    const name = `tenant ${tenant.index}, whose worker ${isGone ? 'is gone' : 'is well'}`;
    const maxMs = isGone ? goneMaxMs : HEALTHY_MAX_MS;
    const body = { type: 'token', data: round.random.text(20) };
    const readSelf = () => ask(round, node.port, 'GET', '/tenants/self', tenant.managementKey);
    const create = () => ask(round, node.port, 'POST', '/tokens', tenant.tokenKey, body);
    asked.push(judge(`${name}, reads itself`, maxMs, readSelf, isGone ? 503 : 200));
    asked.push(judge(`${name}, creates a token`, maxMs, create, isGone ? 503 : 201));
  }
  await Promise.all(asked);
}

/** Everything a tenant of another worker asked for between the two was done, and soon. */
export function checkOthersWentOn(round: Round, { otherTenants }: WorkerGone, fromMs: number, toMs: number): void {
  const others = new Set(otherTenants.map(({ index }) => index));
  let count = 0;
  for (const { tenant, kind, attempts } of round.journal.operations) {
    if (!others.has(tenant)) continue;
    for (const { trace, startedMs, endedMs, outcome, note } of attempts) {
      if (startedMs < fromMs || startedMs > toMs) continue;
      const tookMs = (outcome === 'pending' ? performance.now() : endedMs) - startedMs;
      const isWell = ['acknowledged', 'pending'].includes(outcome) || note.startsWith('429');
      count += isWell ? 1 : 0;
      if (!isWell || tookMs > HEALTHY_MAX_MS)
        round.violate(`${trace} ${kind}, whose worker is well: ${note || 'no answer'} after ${Math.round(tookMs)} ms`);
    }
  }
  if (count === 0) round.violate('nobody on a healthy worker did anything');
}
