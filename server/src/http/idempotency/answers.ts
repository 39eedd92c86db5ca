import type { Shown } from '../../audit/entry.js';
import { IntegrityError } from '../../crypto/integrity-error.js';
import type { Keyring } from '../../crypto/keyring.js';
import type { AnswerBinding, KeptAnswer } from '../../kept-answers/kept-answer.js';
import { openAnswer, sealAnswer } from '../../kept-answers/kept-answer.js';
import type { KeptRow } from '../../kept-answers/queries.js';
import { FIND_KEPT_ANSWERS, findKept, insertKept } from '../../kept-answers/queries.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError, storageUnavailable } from '../../kernel/errors.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { createKeepBudget } from './keep-budget.js';
import type { KeyedRequest } from './keyed-request.js';

export interface AnswersOptions {
  readonly database: Pick<Database, 'find' | 'read'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/** The answers that are kept: who may have one again, and what of it is stored. */
export interface Answers {
  /** The answer of the same request; undefined where there is none, and 409 where it cannot be given again. */
  find(place: AnswerBinding, request: KeyedRequest): Promise<KeptAnswer | undefined>;
  /** Throws `AnswerTaken` where one is there already. */
  keep(
    place: AnswerBinding,
    request: KeyedRequest,
    tx: TenantTx,
    answer: KeptAnswer,
    shown: readonly Shown[],
  ): Promise<void>;
}

const KEPT_MS = 86_400_000;
/** Of a larger answer only that the request succeeded is kept. */
const ANSWER_BYTES_MAX = 1_048_576;
const NOTHING = Buffer.alloc(0);

/** Another process committed an answer for the same request first. Rolls back everything this one did. */
export class AnswerTaken extends Error {
  override readonly name = 'AnswerTaken';
}

export function createAnswers({ database, keyring, clock }: AnswersOptions): Answers {
  const isRoomFor = createKeepBudget(clock);

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

  return { find, keep };
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

function notKept(): AppError {
  const detail =
    'The first request with this idempotency key succeeded, and its answer is not there to be given again.';
  return new AppError('idempotency_answer_not_kept', detail);
}
