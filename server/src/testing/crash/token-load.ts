import { setTimeout as rest } from 'node:timers/promises';
import { newId } from '../../kernel/ids.js';
import type { Call } from '../http-client.js';
import type { CrashLoad } from './journal.js';

/** What the writers were told about one token. */
export interface Promised {
  readonly key: string;
  /** In its data, so that a token tells which request made it. */
  readonly marker: string;
  readonly id: string;
  /** The last change that was acknowledged, and the last one that was tried. */
  acknowledged: number;
  tried: number;
  end: 'none' | 'acknowledged' | 'unknown';
}

export interface TokenJournal {
  readonly tokens: Promised[];
  /** Creates without an answer: their idempotency keys are their markers. */
  readonly unheard: { readonly key: string; readonly marker: string }[];
  /** Answers nobody should get. */
  readonly wrong: string[];
}

export function createTokenJournal(): TokenJournal {
  return { tokens: [], unheard: [], wrong: [] };
}

const CHANGES = 3;
const RETRY_REST_MS = 20;

/** Asks for a token. The marker is also the idempotency key, so asking again makes no second one. */
export function create(call: Call, key: string, marker: string) {
  const headers = { 'SVC-IDEMPOTENCY-KEY': marker };
  const body = { data: { marker, n: 0 }, metadata: { marker }, search_indexes: ['{{ data.marker }}'] };
  return call('POST', '/tokens', { key, headers, body });
}

/** Keeps writers busy until it is stopped: each makes a token, reads it, changes it, and deletes every third. */
export function startTokenLoad(
  call: Call,
  keys: readonly string[],
  writersPerKey: number,
  journal: TokenJournal,
): CrashLoad {
  let isOver = false;

  async function attempt(method: string, path: string, key: string, body?: unknown): Promise<number | undefined> {
    const answer = await call(method, path, { key, body }).catch(() => undefined);
    return answer?.status;
  }

  async function live(key: string, turn: number): Promise<void> {
    const marker = newId();
    const made = await create(call, key, marker).catch(() => undefined);
    if (made === undefined || made.status === 503) {
      journal.unheard.push({ key, marker });
      return;
    }
    if (made.status !== 201) return void journal.wrong.push(`create ${made.status} ${made.text}`);
    const token: Promised = { key, marker, id: made.json.id, acknowledged: 0, tried: 0, end: 'none' };
    journal.tokens.push(token);
    const path = `/tokens/${token.id}`;
    for (let n = 1; n <= CHANGES && !isOver; n += 1) {
      token.tried = n;
      const status = await attempt('PATCH', path, key, { data: { n } });
      if (status === 200) token.acknowledged = n;
      else if (status !== undefined && status !== 503) journal.wrong.push(`patch ${status}`);
      const read = await attempt('GET', path, key);
      if (read !== undefined && read !== 200 && read !== 503) journal.wrong.push(`read ${read}`);
    }
    if (turn % 3 !== 0) return;
    token.end = 'unknown';
    const status = await attempt('DELETE', path, key);
    if (status === 204) token.end = 'acknowledged';
    else if (status !== undefined && status !== 503) journal.wrong.push(`delete ${status}`);
  }

  async function write(key: string): Promise<void> {
    for (let turn = 1; !isOver; turn += 1) {
      const unheardBefore = journal.unheard.length;
      await live(key, turn);
      if (journal.unheard.length > unheardBefore) await rest(RETRY_REST_MS);
    }
  }

  const writers = keys.flatMap((key) => Array.from({ length: writersPerKey }, () => write(key)));
  return {
    async stop() {
      isOver = true;
      await Promise.all(writers);
    },
  };
}
