import { Agent } from 'node:http';
import type { Ending } from './call.js';
import { call } from './call.js';
import type { Attempt, Journal, Operation, Outcome } from './journal.js';
import type { ApiNode } from './node.js';
import type { Plan } from './plan.js';
import { textAt } from './plan.js';
import type { LoadTenant } from './tenants.js';

export interface Sender {
  /** Sends a plan once to one node and journals it. */
  send(plan: Plan, operation: Operation, node: ApiNode, tenant: LoadTenant): Promise<Attempt>;
  close(): void;
}

export interface SenderOptions {
  readonly nodes: readonly ApiNode[];
  readonly journal: Journal;
  readonly timeoutMs: number;
  readonly onWrong: (text: string) => void;
  /** The address the load of a worker comes from, for the rate limits. */
  readonly addressOf: (operation: Operation) => string;
}

export function createSender(options: SenderOptions): Sender {
  const agents = options.nodes.map(() => new Agent({ keepAlive: true }));
  return {
    async send(plan, operation, node, tenant) {
      const trace = `${operation.id}.${operation.attempts.length}`;
      const startedMs = performance.now();
      const attempt: Attempt = { trace, node: node.index, startedMs, endedMs: 0, outcome: 'pending', note: '' };
      operation.attempts.push(attempt);
      options.journal.note(operation, attempt);
      const agent = agents[node.index];
      const ending = await call({
        port: node.port,
        ...(agent && { agent }),
        method: plan.method,
        path: plan.path,
        key: plan.isManagement ? tenant.managementKey : tenant.tokenKey,
        trace,
        ...(plan.body !== undefined && { body: plan.body }),
        headers: {
          'X-Forwarded-For': options.addressOf(operation),
          ...(operation.idempotencyKey !== undefined && { 'SVC-IDEMPOTENCY-KEY': operation.idempotencyKey }),
        },
        timeoutMs: options.timeoutMs,
      });
      attempt.endedMs = performance.now();
      attempt.note = noteOf(ending);
      if (ending.kind === 'lost') attempt.isReused = ending.isReused;
      attempt.outcome = judge(plan, ending, (text) => options.onWrong(`${trace} ${plan.kind}: ${text}`));
      if (attempt.outcome === 'acknowledged' && ending.kind === 'answered') {
        attempt.body = ending.body;
        const { wrong, expected } = plan.onAnswer?.(ending.body) ?? {};
        if (expected) operation.expected = expected;
        if (wrong) options.onWrong(`${trace} ${plan.kind}: ${wrong}`);
      }
      options.journal.note(operation, attempt);
      return attempt;
    },
    close() {
      for (const agent of agents) agent.destroy();
    },
  };
}

/** The words of the service for a change that may have been made, and for one that was not. */
const UNSURE = /may or may not have been made/;
const UNDONE = /Nothing was (changed|done)/;

function judge(plan: Plan, ending: Ending, onWrong: (text: string) => void): Outcome {
  if (ending.kind === 'unsent') return 'refused';
  if (ending.kind === 'lost') return 'unknown';
  const { status, body } = ending;
  if (status === plan.good) return 'acknowledged';
  const code = textAt(body, 'code');
  const detail = textAt(body, 'detail');
  if (status === 503 && UNSURE.test(detail)) return 'unknown';
  if (status === 503 && UNDONE.test(detail)) return 'refused';
  if (status === 429 || code === 'idempotency_in_flight') return 'refused';
  onWrong(`answered ${status} ${code} ${detail}`);
  return status >= 500 ? 'unknown' : 'refused';
}

function noteOf(ending: Ending): string {
  return ending.kind === 'answered' ? `${ending.status} ${textAt(ending.body, 'code')}`.trim() : ending.reason;
}
