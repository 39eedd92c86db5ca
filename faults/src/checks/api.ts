import { setTimeout as wait } from 'node:timers/promises';
import { call } from '../call.js';
import type { Cluster } from '../cluster.js';
import { field, textAt } from '../plan.js';
import type { LoadTenant } from '../tenants.js';

const TIMEOUT_MS = 15_000;
const ATTEMPTS = 20;
const REST_MS = 250;
export const CHECK_TRACE = 'check';

/** Reads what the API shows when all is well again. A refusal by a rate limit is waited out; any other is an error. */
export async function read(cluster: Cluster, key: string, path: string, node = 0): Promise<unknown> {
  const port = cluster.nodes[node]?.port ?? 0;
  let last = '';
  for (let n = 0; n < ATTEMPTS; n += 1) {
    // An address of its own each time keeps the checks clear of the limits the load has used up.
    const headers = { 'X-Forwarded-For': `10.9.${n}.${Math.floor(performance.now()) % 250}` };
    const ending = await call({ port, method: 'GET', path, key, trace: CHECK_TRACE, headers, timeoutMs: TIMEOUT_MS });
    if (ending.kind === 'answered' && ending.status === 200) return ending.body;
    last = ending.kind === 'answered' ? `${ending.status} ${textAt(ending.body, 'detail')}` : ending.reason;
    if (ending.kind === 'answered' && ending.status !== 429) break;
    await wait(REST_MS);
  }
  throw new Error(`GET ${path.slice(0, 80)} on node ${node}: ${last}`);
}

/** Every item of a list by cursor, from the beginning or from a cursor on. */
export async function readAll(cluster: Cluster, key: string, path: string, node = 0, from = ''): Promise<unknown[]> {
  const items: unknown[] = [];
  let start = from;
  do {
    const cursor = start === '' ? '' : `&start=${encodeURIComponent(start)}`;
    const page = await read(cluster, key, `${path}${cursor}`, node);
    const data = field(page, 'data');
    if (Array.isArray(data)) items.push(...data);
    start = textAt(page, 'pagination', 'after');
  } while (start !== '');
  return items;
}

/** Every application of a tenant, by number. */
export async function readApplications(cluster: Cluster, tenant: LoadTenant): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const data = field(await read(cluster, tenant.managementKey, `/applications?size=100&page=${page}`), 'data');
    if (!Array.isArray(data) || data.length === 0) return items;
    items.push(...data);
  }
}
