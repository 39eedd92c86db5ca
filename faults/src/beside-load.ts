import type { Ending } from './call.js';
import { call } from './call.js';
import { textAt } from './plan.js';
import type { Round } from './scenario.js';
import type { LoadTenant } from './tenants.js';

const TOKENS_A_REQUEST = 100;
const TIMEOUT_MS = 15_000;
const AT_ONCE = 12;

export interface Made {
  readonly id: string;
  /** What it holds, or the key of an application. */
  readonly value: string;
}

/** Beside the load, which knows nothing of them. */
export async function createTokens(round: Round, tenant: LoadTenant, count: number): Promise<Made[]> {
  const made: Made[] = [];
  for (let from = 0; from < count; from += TOKENS_A_REQUEST) {
    const values = Array.from({ length: Math.min(TOKENS_A_REQUEST, count - from) }, () => round.random.text(40));
    const body = { list: values.map((data) => ({ type: 'token', data })) };
    const ending = await ask(round, 0, 'POST', '/tokenize', tenant.tokenKey, body);
    if (ending.kind !== 'answered' || ending.status !== 200) throw new Error(`no tokens: ${JSON.stringify(ending)}`);
    const { body: answer } = ending;
    values.forEach((value, n) => {
      made.push({ id: textAt(answer, 'list', n, 'id'), value });
    });
  }
  return made;
}

/** Without a port any node of the cluster will do. From many addresses, so that no limit is in the way. */
export function ask(
  round: Round,
  port: number,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  key: string,
  body?: unknown,
): Promise<Ending> {
  const address = () => round.random.between(1, 254);
  return call({
    port: port || (round.cluster.nodes[0]?.port ?? 0),
    method,
    path,
    key,
    trace: 'flipped',
    ...(body !== undefined && { body }),
    headers: { 'X-Forwarded-For': `10.${address()}.${address()}.${address()}` },
    timeoutMs: TIMEOUT_MS,
  });
}

export async function inParallel<T>(
  items: readonly T[],
  act: (item: T) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
