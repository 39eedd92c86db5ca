import { randomBytes } from 'node:crypto';
import type { Answer } from './answer.js';
import { cardNumber } from './canaries.js';
import type { Connection } from './connection.js';
import { openConnection } from './connection.js';
import { Latencies } from './latencies.js';
import type { Call, Walker } from './neighbour-walk.js';
import { walk } from './neighbour-walk.js';
import { bytesOf, request, show } from './request.js';
import type { Ask, Made } from './world.js';
import { textOf } from './world.js';

/** A tenant beside all that hostility. It does ordinary work, knows what every answer has to be, and notices nothing. */
export interface Neighbour {
  /** Stands in all it stores; nobody else may ever see it. */
  readonly mark: string;
  /** Works from now on: on a few connections of its own, one request after the other on each. */
  start(): void;
  /** Resolves when the rounds under way are over. */
  stop(): Promise<void>;
  /** Compares its log with what it did: one entry for everything, no more and no fewer. */
  checkLog(): Promise<void>;
  report(): NeighbourReport;
}

export interface NeighbourReport {
  readonly requests: number;
  readonly disturbed: readonly string[];
  /** Milliseconds; recorded, not judged. */
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
}

const STANDING = 8;
const WALKERS = 3;
const FAULTS_MAX = 10;

export async function makeNeighbour(port: number, ask: Ask, manageKey: string): Promise<Neighbour> {
  const mark = `nghbr${randomBytes(8).toString('hex')}`;
  const permissions = ['create', 'read', 'update', 'delete', 'search'].map((act) => `token:${act}`);
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }];
  const owner = await ask(manageKey, 'POST', '/applications', { name: mark, type: 'private', rules });
  const reader = { name: mark, type: 'private', permissions: ['token:read'] };
  const maskedKey = textOf(await ask(manageKey, 'POST', '/applications', reader), 'key');
  const key = textOf(owner, 'key');
  const standing = Array.from({ length: STANDING }, (_, place) => ({
    id: `${mark}-${place}`,
    number: cardNumber(`${1_000 + place}`),
  }));
  const metadata = { standing: mark };
  for (const { id, number } of standing)
    await ask(key, 'POST', '/tokens', { id, type: 'card_number', data: number, metadata });
  const countEntries = async (): Promise<number> => {
    const { pagination } = await ask(manageKey, 'GET', '/logs?page=1&size=1');
    return Number(new Map(Object.entries(pagination ?? {})).get('total_items'));
  };
  return new WatchfulNeighbour(port, { mark, key, maskedKey, standing }, countEntries, await countEntries());
}

class WatchfulNeighbour implements Neighbour {
  readonly mark: string;
  readonly #port: number;
  readonly #walker: Walker;
  readonly #countEntries: () => Promise<number>;
  readonly #latencies = new Latencies();
  readonly #disturbed: string[] = [];
  #requests = 0;
  #round = 0;
  /** Entries its log has to have. */
  #entries: number;
  #working: Promise<unknown> | undefined;
  #isStopping = false;

  constructor(port: number, walker: Walker, countEntries: () => Promise<number>, entries: number) {
    this.mark = walker.mark;
    this.#port = port;
    this.#walker = walker;
    this.#countEntries = countEntries;
    this.#entries = entries;
  }

  start(): void {
    this.#isStopping = false;
    this.#working = Promise.all(Array.from({ length: WALKERS }, () => this.#work()));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#working;
  }

  async checkLog(): Promise<void> {
    // After an answer that never came nobody knows what was done.
    if (this.#disturbed.length > 0) return;
    const found = await this.#countEntries();
    if (found !== this.#entries) this.#note(`its log has ${found} entries instead of ${this.#entries}`, undefined);
  }

  report(): NeighbourReport {
    return {
      requests: this.#requests,
      disturbed: this.#disturbed,
      medianMs: this.#latencies.percentile(0.5),
      p99Ms: this.#latencies.percentile(0.99),
      slowestMs: this.#latencies.slowestMs,
    };
  }

  async #work(): Promise<void> {
    const connection = openConnection(this.#port);
    const call: Call = (...request) => this.#call(connection, ...request);
    while (!this.#isStopping && this.#disturbed.length < FAULTS_MAX) {
      const at = this.#round;
      this.#round += 1;
      await walk(call, this.#walker, at);
    }
    connection.close();
  }

  async #call(connection: Connection, ...[caller, method, target, body, expected]: Parameters<Call>): Promise<Made> {
    this.#requests += 1;
    this.#entries += expected.entries;
    const sent = bytesOf(request(caller, method, target, body === undefined ? undefined : JSON.stringify(body)));
    const what = `${method} ${target}`;
    try {
      const answer = await connection.exchange(sent, false);
      this.#latencies.add(answer.ms);
      const got: Made = answer.body === '' ? {} : JSON.parse(answer.body);
      if (answer.status !== expected.status) this.#note(`${what} is not ${expected.status}`, answer);
      else if (!(expected.isRight?.(got) ?? true)) this.#note(`${what} has another content`, answer);
      return got;
    } catch (error) {
      this.#note(`${what} failed: ${error instanceof Error ? error.message : String(error)}`, undefined);
      return {};
    }
  }

  #note(what: string, answer: Answer | undefined): void {
    if (this.#disturbed.length >= FAULTS_MAX) return;
    this.#disturbed.push(`the neighbour: ${what}${answer ? `: ${answer.status} ${show(answer.body)}` : ''}`);
  }
}
