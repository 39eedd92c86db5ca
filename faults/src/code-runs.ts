import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Ending } from './call.js';
import { call } from './call.js';
import type { Cluster } from './cluster.js';
import type { ApiNode } from './node.js';
import { childrenOf } from './processes.js';
import type { LoadTenant } from './tenants.js';

/** Names of the engine's process, with namespaces and without. */
const ENGINES = new Set(['engine', 'workerd']);
const POLL_MS = 50;
/** Past every bound of the service itself. */
const ANSWER_MAX_MS = 60_000;

/** A Reactor of a tenant of the load. */
export interface CodeUnderTest {
  readonly tenant: LoadTenant;
  readonly id: string;
}

let claimed = 0;

/**
 * Each call claims an address of its own, as the load does: a thousand calls at once are not to be told that one client sends too
 * many, nor the scenarios behind them.
 */
export function ownAddress(): Readonly<Record<string, string>> {
  claimed += 1;
  return { 'X-Forwarded-For': `198.19.${(claimed >> 8) % 256}.${claimed % 256}` };
}

/** Makes a Reactor, once for a scenario. */
export async function makeCode(cluster: Cluster, tenantIndex: number, code: string): Promise<CodeUnderTest> {
  const tenant = cluster.tenants[tenantIndex];
  const [node] = cluster.nodes;
  if (!tenant || !node) throw new Error('a cluster has tenants and a node');
  const made = await call({
    ...{ port: node.port, method: 'POST', path: '/reactors', key: tenant.managementKey, trace: 'make-code' },
    body: { name: 'Under test', code },
    headers: ownAddress(),
    timeoutMs: ANSWER_MAX_MS,
  });
  const { id } = made.kind === 'answered' && made.status === 201 ? (made.body as { id?: string }) : {};
  if (id === undefined) throw new Error(`no Reactor: ${JSON.stringify(made)}`);
  return { tenant, id };
}

export function react(
  { port }: Pick<ApiNode, 'port'>,
  { tenant, id }: CodeUnderTest,
  args: unknown = {},
  path = 'react',
  more: object = {},
): Promise<Ending> {
  return call({
    ...{ port, method: 'POST', path: `/reactors/${id}/${path}`, key: tenant.tokenKey, trace: 'run-code' },
    body: { args, ...more },
    headers: ownAddress(),
    timeoutMs: ANSWER_MAX_MS,
  });
}

/** `200`, `500 reactor_error`, or why there was no answer. */
export function tellOf(ending: Ending): string {
  if (ending.kind !== 'answered') return `${ending.kind}: ${ending.reason}`;
  const { code = '' } = (ending.body ?? {}) as { code?: string }; // A problem has one.
  return `${ending.status} ${code}`.trim();
}

/** The engines a node has, by process id. */
export async function enginesOf(node: ApiNode): Promise<number[]> {
  const launchers = await childrenOf(node.pid());
  const below = await Promise.all(launchers.map((pid) => childrenOf(pid)));
  const all = [...launchers, ...below.flat()];
  const names = await Promise.all(all.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')));
  return all.filter((_, n) => ENGINES.has(names[n]?.trim() ?? ''));
}

/** Whether it became so in time. */
export async function within(ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs) {
    if (await isSo()) return true;
    await wait(POLL_MS);
  }
  return false;
}

export async function isGone(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat === '' || stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

export async function residentMb(node: ApiNode): Promise<number> {
  const [, kb = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${node.pid()}/status`, 'utf8')) ?? [];
  return Number(kb) / 1_024;
}
