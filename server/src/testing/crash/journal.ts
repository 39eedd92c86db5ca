import { Agent, request } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { newId } from '../../kernel/ids.js';

export interface JournalSpan {
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** What the writers were told. Each update is known by its trace id, which is also the name it gives to the tenant. */
export interface Journal {
  readonly acknowledged: Map<string, JournalSpan>;
  /** Answered with 4xx, or with a 503 that says that nothing was changed: must leave no trace. */
  readonly refused: Set<string>;
  /** No answer, or one that leaves it open: whole or absent. */
  readonly unknown: Set<string>;
  /** How often each status was answered. */
  readonly statuses: Map<number, number>;
  slowestMs: number;
}

export function createJournal(): Journal {
  return { acknowledged: new Map(), refused: new Set(), unknown: new Set(), statuses: new Map(), slowestMs: 0 };
}

export interface CrashLoad {
  stop(): Promise<void>;
}

const UPDATES_PER_MISTAKE = 8;
const ANSWER_MAX_MS = 30_000;
const NOTHING_DONE = /Nothing was (changed|done)/;
/** Stands for a status where the connection broke. */
export const NO_ANSWER = 0;
/** Between two tries at a server that is away. */
const RETRY_REST_MS = 20;

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Keeps writers busy until it is stopped: unique updates, and now and then one that must be refused. */
export function startLoad(
  baseUrl: string,
  keys: readonly string[],
  writersPerKey: number,
  journal: Journal,
): CrashLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: keys.length * writersPerKey });
  let isOver = false;

  async function write(key: string): Promise<void> {
    for (let turn = 1; !isOver; turn += 1) {
      const traceId = newId();
      const name = turn % UPDATES_PER_MISTAKE === 0 ? '' : traceId;
      const sentMs = performance.now();
      const { status, text } = await put(agent, `${baseUrl}/tenants/self`, key, traceId, { name });
      const answeredMs = performance.now();
      journal.slowestMs = Math.max(journal.slowestMs, answeredMs - sentMs);
      journal.statuses.set(status, (journal.statuses.get(status) ?? 0) + 1);
      const isRefused = (status >= 400 && status < 500) || (status === 503 && NOTHING_DONE.test(text));
      if (status === 200) journal.acknowledged.set(traceId, { sentMs, answeredMs });
      else if (isRefused) journal.refused.add(traceId);
      else journal.unknown.add(traceId);
      if (status === NO_ANSWER || status >= 500) await rest(RETRY_REST_MS);
    }
  }

  const writers = keys.flatMap((key) => Array.from({ length: writersPerKey }, () => write(key)));
  return {
    async stop() {
      isOver = true;
      await Promise.all(writers);
      agent.destroy();
    },
  };
}

/** Sends exactly once, which not every client promises. */
function put(agent: Agent, url: string, key: string, traceId: string, body: unknown): Promise<Answered> {
  return new Promise((resolve) => {
    const noAnswer = (): void => resolve({ status: NO_ANSWER, text: '' });
    const headers = { 'SVC-API-KEY': key, 'SVC-TRACE-ID': traceId, 'Content-Type': 'application/json' };
    const sent = request(url, { method: 'PUT', agent, headers, timeout: ANSWER_MAX_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', noAnswer);
      response.on('end', () => (response.complete ? resolve({ status: response.statusCode ?? 0, text }) : noAnswer()));
      response.on('close', noAnswer);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', noAnswer);
    sent.end(JSON.stringify(body));
  });
}
