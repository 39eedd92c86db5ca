import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './answer.js';
import { cardNumber } from './canaries.js';
import type { Connection } from './connection.js';
import { openConnection } from './connection.js';
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

interface Expected {
  readonly status: number;
  /** Entries the request leaves in the log. */
  readonly entries: number;
  readonly isRight?: (body: Made) => boolean;
}

const STANDING = 8;
const WALKERS = 3;
const FAULTS_MAX = 10;
/** Every so many milliseconds of latency one counter: enough for percentiles, however long it runs. */
const SLOT_MS = 0.25;
const SLOTS = 80_000;

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

  const slots = new Uint32Array(SLOTS);
  const disturbed: string[] = [];
  let requests = 0;
  let slowestMs = 0;
  let round = 0;
  let entries = await countEntries();
  let working: Promise<unknown> | undefined;
  let isStopping = false;

  async function countEntries(): Promise<number> {
    const { pagination } = await ask(manageKey, 'GET', '/logs?page=1&size=1');
    return Number(new Map(Object.entries(pagination ?? {})).get('total_items'));
  }

  function note(what: string, answer: Answer | undefined): void {
    if (disturbed.length >= FAULTS_MAX) return;
    disturbed.push(`the neighbour: ${what}${answer ? `: ${answer.status} ${show(answer.body)}` : ''}`);
  }

  async function call(
    connection: Connection,
    caller: string,
    method: string,
    target: string,
    body: unknown,
    { status, entries: more, isRight = () => true }: Expected,
  ): Promise<Made> {
    requests += 1;
    entries += more;
    const sent = bytesOf(request(caller, method, target, body === undefined ? undefined : JSON.stringify(body)));
    const what = `${method} ${target}`;
    try {
      const answer = await connection.exchange(sent, false);
      slowestMs = Math.max(slowestMs, answer.ms);
      const slot = Math.min(SLOTS - 1, Math.floor(answer.ms / SLOT_MS));
      slots[slot] = (slots[slot] ?? 0) + 1;
      const got: Made = answer.body === '' ? {} : JSON.parse(answer.body);
      if (answer.status !== status) note(`${what} is not ${status}`, answer);
      else if (!isRight(got)) note(`${what} has another content`, answer);
      return got;
    } catch (error) {
      note(`${what} failed: ${error instanceof Error ? error.message : String(error)}`, undefined);
      return {};
    }
  }

  /** One token from its making to its end, beside those that stand. */
  async function work(connection: Connection): Promise<void> {
    const at = round;
    round += 1;
    const id = `${mark}-round-${at}`;
    const value = `${mark} value ${at}`;
    const data = { value, at, list: [1, null, { deep: 'ünï' }] };
    const metadata = { round: String(at) };
    const token = {
      id,
      data,
      metadata,
      mask: { last: '{{ data.value | slice: 0, 5 }}' },
      search_indexes: ['{{ data.value }}'],
    };
    const holds = (body: Made, expected: Made): boolean =>
      Object.entries(expected).every(([name, each]) => isDeepStrictEqual(body[name], each));
    const lists = (body: Made, expected: Made): boolean => {
      const [only, ...more] = Array.isArray(body.data) ? body.data : [];
      return more.length === 0 && only !== undefined && holds(only, expected);
    };
    const { number, id: standingId } = standing[at % STANDING] ?? { number: '', id: '' };

    const made = await call(connection, key, 'POST', '/tokens', token, {
      status: 201,
      entries: 1,
      isRight: (body) => holds(body, token),
    });
    const read = { status: 200, entries: 1 };
    await call(connection, key, 'GET', `/tokens/${id}`, undefined, {
      ...read,
      isRight: (body) => isDeepStrictEqual(body, made),
    });
    await call(connection, key, 'GET', `/v2/tokens?id=${id}`, undefined, {
      ...read,
      isRight: (body) => lists(body, made),
    });
    const query = { query: `data:"${value}" AND metadata.round:${at}` };
    await call(connection, key, 'POST', '/v2/tokens/search', query, { ...read, isRight: (body) => lists(body, made) });
    const asked = {
      whole: `{{ ${id} }}`,
      part: `${at}: {{ ${standingId} | reveal_last: 4 }}`,
      own: `{{ token: ${id} | json: "$.id" }}`,
    };
    const told = { whole: data, part: `${at}: ${'X'.repeat(12)}${number.slice(-4)}`, own: id };
    await call(connection, key, 'POST', '/detokenize', asked, {
      status: 200,
      entries: 2,
      isRight: (body) => isDeepStrictEqual(body, told),
    });
    const isMasked = (body: Made): boolean => isDeepStrictEqual(body.data, { last: mark.slice(0, 5) });
    await call(connection, maskedKey, 'GET', `/tokens/${id}`, undefined, { ...read, isRight: isMasked });
    const isCounted = (body: Made): boolean => holds(Object(body.pagination), { total_items: STANDING });
    await call(connection, key, 'GET', `/tokens?size=1&metadata.standing=${mark}`, undefined, {
      ...read,
      isRight: isCounted,
    });
    const change = { metadata: { changed: 'yes' }, data: { at: at + 0.5 } };
    const changed = { id, metadata: { ...metadata, ...change.metadata }, data: { ...data, at: at + 0.5 } };
    await call(connection, key, 'PATCH', `/tokens/${id}`, change, { ...read, isRight: (body) => holds(body, changed) });
    await call(connection, key, 'GET', `/tokens/${standingId}`, undefined, {
      ...read,
      isRight: (body) => body.data === number,
    });
    await call(connection, key, 'DELETE', `/tokens/${id}`, undefined, { status: 204, entries: 1 });
    await call(connection, key, 'GET', `/tokens/${id}`, undefined, { status: 404, entries: 0 });
  }

  function percentile(share: number): number {
    let left = share * slots.reduce((sum, times) => sum + times, 0);
    const slot = slots.findIndex((times) => {
      left -= times;
      return left <= 0;
    });
    return slot * SLOT_MS;
  }

  return {
    mark,
    start() {
      isStopping = false;
      working = Promise.all(
        Array.from({ length: WALKERS }, async () => {
          const connection = openConnection(port);
          while (!isStopping && disturbed.length < FAULTS_MAX) await work(connection);
          connection.close();
        }),
      );
    },
    async stop() {
      isStopping = true;
      await working;
    },
    async checkLog() {
      // After an answer that never came nobody knows what was done.
      if (disturbed.length > 0) return;
      const found = await countEntries();
      if (found !== entries) note(`its log has ${found} entries instead of ${entries}`, undefined);
    },
    report: () => ({ requests, disturbed, medianMs: percentile(0.5), p99Ms: percentile(0.99), slowestMs }),
  };
}
