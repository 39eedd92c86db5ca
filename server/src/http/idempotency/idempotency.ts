import { createHash } from 'node:crypto';
import type { Principal } from '../../access/principal.js';
import type { Shown } from '../../audit/entry.js';
import { IntegrityError } from '../../crypto/integrity-error.js';
import { macOf } from '../../crypto/keyed-hash.js';
import type { Keyring } from '../../crypto/keyring.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import type { AnswerBinding, KeptAnswer } from '../../kept-answers/kept-answer.js';
import { openAnswer, sealAnswer } from '../../kept-answers/kept-answer.js';
import type { KeptRow } from '../../kept-answers/queries.js';
import { FIND_KEPT_ANSWERS, findKept, insertKept } from '../../kept-answers/queries.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError, storageUnavailable } from '../../kernel/errors.js';
import type { Secret } from '../../kernel/secret.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { createKeepBudget } from './keep-budget.js';

/** A request that came with an idempotency key. Two of them are the same when all but the last three fields are. */
export interface KeyedRequest {
  readonly principal: Principal;
  readonly key: string;
  readonly method: string;
  /** As it was sent, without the query. */
  readonly pathname: string;
  /** What else tells requests apart that come with a key many share; undefined for other callers. */
  readonly sharedBy: { readonly body: Buffer; readonly client: string } | undefined;
  readonly credential: Secret<string> | undefined;
  readonly secretFields: readonly string[];
  /** What the caller may do with tokens, asked for when it matters; undefined where the answer shows none. */
  readonly rights: () => string | undefined;
}

/** Stores the answer in the transaction of its effect, so that both are there or neither. */
export type Keep = (tx: TenantTx, answer: KeptAnswer, shown: readonly Shown[]) => Promise<void>;

/**
 * Runs `work` unless the same request was answered before; then resolves with that answer. Undefined: `work` has run, and
 * has given its own.
 */
export type RunOnce = (request: KeyedRequest, work: (keep: Keep) => Promise<void>) => Promise<KeptAnswer | undefined>;

export interface RunOnceOptions {
  readonly database: Pick<Database, 'find' | 'read'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

export const KEPT_MS = 86_400_000;
/** Of a larger answer only that the request succeeded is kept. */
export const ANSWER_BYTES_MAX = 1_048_576;
const KEY_PATTERN = /^[\x21-\x7e]{1,200}$/;
const NOTHING = Buffer.alloc(0);

/** Another process committed an answer for the same request first. Rolls back everything this one did. */
class AnswerTaken extends Error {
  override readonly name = 'AnswerTaken';
}

export function createRunOnce({ database, keyring, clock }: RunOnceOptions): RunOnce {
  /** What this process works on, so that a repetition is told at once instead of waiting for a lock. */
  const underWay = new Set<string>();
  const isRoomFor = createKeepBudget(clock);

  async function keysOf(tenantId: string): Promise<TenantKeys> {
    try {
      return await keyring.forTenant(tenantId);
    } catch (error) {
      // Its keys are the first thing a deleted tenant loses.
      if (error instanceof IntegrityError) throw gone();
      throw error;
    }
  }

  /** Nearly every key is a new one: looked for together with those of others, whoever sends many takes no connections. */
  async function lookFor({ keys: { tenantId }, id }: AnswerBinding, nowMs: number): Promise<KeptRow | undefined> {
    const key = { tenantId, id };
    const found = (await database.find(tenantId, FIND_KEPT_ANSWERS, key)).get(key);
    if (found === undefined || found.expires_at.getTime() <= nowMs) return undefined;
    const { status, sealed } = found;
    return sealed === null ? database.read(tenantId, (tx) => findKept(tx, id, nowMs)) : { status, sealed };
  }

  async function find(place: AnswerBinding, { credential, rights }: KeyedRequest): Promise<KeptAnswer | undefined> {
    const nowMs = clock.nowMs();
    const row = await lookFor(place, nowMs);
    if (row === undefined) return undefined;
    if (row.sealed.length === 0) throw notKept();
    try {
      const keys = await keyring.forRecords(place.keys.tenantId, [row.sealed]);
      const { answer, terms } = openAnswer({ ...place, keys }, row, credential);
      // What it shows is decided by the rights of then. With other rights now, or without the token, it stays closed.
      if (terms.rights !== rights() || nowMs >= (terms.shownUntilMs ?? Infinity)) throw notKept();
      return answer;
    } catch (error) {
      throw error instanceof IntegrityError ? storageUnavailable(error) : error;
    }
  }

  async function keep(
    place: AnswerBinding,
    request: KeyedRequest,
    tx: TenantTx,
    answer: KeptAnswer,
    shown: readonly Shown[],
  ): Promise<void> {
    const nowMs = clock.nowMs();
    const bytes = answer.body === undefined ? 0 : Buffer.byteLength(answer.body);
    const isKept = bytes <= ANSWER_BYTES_MAX && isRoomFor(tx.tenantId, bytes);
    const sealed = isKept ? sealedWithTerms(place, request, answer, shown) : NOTHING;
    const names = isKept ? [...new Set(shown.map(({ name }) => name))] : [];
    const row = { id: place.id, status: answer.status, sealed, expiresAtMs: nowMs + KEPT_MS, shown: names };
    if (!(await insertKept(tx, row, nowMs))) throw new AnswerTaken('the answer of another process is there already');
  }

  async function runOrReplay(place: AnswerBinding, request: KeyedRequest, work: (keep: Keep) => Promise<void>) {
    const earlier = await find(place, request);
    if (earlier) return earlier;
    try {
      await work((tx, answer, shown) => keep(place, request, tx, answer, shown));
      return undefined;
    } catch (error) {
      // The other process may be noticed before the answer is: what it made is in the way of making it again.
      const isTaken = error instanceof AnswerTaken;
      if (!isTaken && !(error instanceof AppError && error.status === 409)) throw error;
      const other = await find(place, request);
      if (other) return other;
      throw isTaken ? inFlight() : error;
    }
  }

  return async (request, work) => {
    refuseUnfit(request.key);
    const keys = await keysOf(request.principal.tenantId);
    const place = { keys, id: idOf(keys, request) };
    const scope = `${keys.tenantId} ${place.id.toString('hex')}`;
    if (underWay.has(scope)) throw inFlight();
    underWay.add(scope);
    try {
      return await runOrReplay(place, request, work);
    } finally {
      underWay.delete(scope);
    }
  };
}

function sealedWithTerms(
  place: AnswerBinding,
  request: KeyedRequest,
  answer: KeptAnswer,
  shown: readonly Shown[],
): Buffer {
  const shownUntilMs = Math.min(...shown.map(({ expiresAtMs = Infinity }) => expiresAtMs));
  const terms = { rights: request.rights(), shownUntilMs: shownUntilMs === Infinity ? undefined : shownUntilMs };
  return sealAnswer(place, answer, { fields: request.secretFields, credential: request.credential }, terms);
}

/** The table shows neither who asked nor for what. */
function idOf(keys: TenantKeys, { principal, key, method, pathname, sharedBy }: KeyedRequest): Buffer {
  const { type, id } = principal.actor;
  const path = pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  const parts = [type, id, key, method, path];
  if (sharedBy === undefined) return macOf(keys.index, ['idempotency', ...parts]);
  const body = createHash('sha256').update(sharedBy.body).digest();
  return macOf(keys.index, ['idempotency-shared', ...parts, sharedBy.client, body]);
}

function refuseUnfit(key: string): void {
  if (KEY_PATTERN.test(key)) return;
  const detail = 'The idempotency key must be 1 to 200 visible ASCII characters, sent once.';
  throw new AppError('malformed_request', detail);
}

function inFlight(): AppError {
  const detail = 'A request with this idempotency key is still being worked on. Try again shortly for its answer.';
  return new AppError('idempotency_in_flight', detail);
}

function notKept(): AppError {
  const detail =
    'The first request with this idempotency key succeeded, and its answer is not there to be given again.';
  return new AppError('idempotency_answer_not_kept', detail);
}

function gone(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid. Check it, or ask for a new one.');
}
