import { createHmac } from 'node:crypto';
import { AppError } from '../../../kernel/errors.js';
import type { Outbound, OutboundAnswer } from '../../../outbound/outbound.js';
import { OutboundError } from '../../../outbound/outbound-error.js';
import type { ReactorStore } from '../definition/store.js';
import { findReactor } from '../queries.js';
import { CALLBACK_DELAYS_MS, delayAfter } from './backoff.js';
import type { StoredFailure } from './claim-queries.js';
import type { HeldRequest } from './held-request.js';
import type { RequestOpener } from './open-request.js';
import type { QueueCounters } from './queue-figures.js';
import type { CallbackMessage } from './result.js';
import { callbackMessageOf } from './result.js';
import type { SettleOptions } from './settle.js';
import { failAsItIs, giveBack, markDelivered, postpone } from './settle.js';

export interface DeliverOptions extends SettleOptions {
  readonly outbound: Pick<Outbound, 'send'>;
  readonly store: ReactorStore;
  readonly open: RequestOpener;
  readonly count: QueueCounters;
}

const ANSWER_MS = 10_000;
/** Read only so that the connection can be used again; what it says is of no interest. */
const READ_BYTES_MAX = 8_192;
const TRIES_MAX = CALLBACK_DELAYS_MS.length + 1;
const LOST: StoredFailure = { code: 'internal_error', status: 500 };

/** Sends the result of one to its callback, and writes down what came of that. */
export async function deliverResult(options: DeliverOptions, held: HeldRequest): Promise<void> {
  if (held.signal.aborted) return held.isGivenUp() ? giveBack(options, held) : undefined;
  const opened = await options.open(held.row);
  if (opened instanceof AppError) return failAsItIs(options, held, opened);
  const { callbackUrl, result } = opened.content;
  if (callbackUrl === undefined || result === undefined || held.row.tries > TRIES_MAX) {
    return failAsItIs(options, held, LOST);
  }
  const message = callbackMessageOf(result, held.row.trace_id ?? '');
  const failure = await sendCallback(options, held, callbackUrl, message);
  if (failure === undefined) {
    options.count.callback('delivered');
    return markDelivered(options, held);
  }
  if (held.signal.aborted) return held.isGivenUp() ? giveBack(options, held) : undefined;
  const delayMs = delayAfter(CALLBACK_DELAYS_MS, held.row.tries);
  options.count.callback(delayMs === undefined ? 'failed' : 'postponed');
  return delayMs === undefined ? failAsItIs(options, held, failure) : postpone(options, held, delayMs, failure);
}

/** Undefined once the destination said that it has it. */
async function sendCallback(
  { outbound, store, database, time }: DeliverOptions,
  { row, signal }: HeldRequest,
  url: string,
  { contentType, body }: CallbackMessage,
): Promise<StoredFailure | undefined> {
  const reactor = await database.read(row.tenant_id, (tx) => findReactor(tx, row.reactor_id));
  if (!reactor) return { code: 'not_found', status: 404 };
  const { callbackSecret } = store.open(await store.keysFor(row.tenant_id, [reactor]), reactor).content;
  try {
    const answer = await outbound.send({
      tenantId: row.tenant_id,
      method: 'POST',
      url,
      headers: [
        ['Content-Type', contentType],
        ['SVC-TRACE-ID', row.trace_id ?? ''],
        ['SVC-REQUEST-ID', row.id],
        ['SVC-SIGNATURE', callbackSignature(callbackSecret, Math.floor(time.nowMs() / 1_000), body)],
      ],
      body: Buffer.from(body),
      signal,
      bounds: { totalMs: ANSWER_MS },
    });
    await leave(answer);
    // A redirect is no answer either: where results go is what the caller said.
    return answer.status < 300 ? undefined : { code: 'callback_status', status: answer.status };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { code: `callback_${error.code}`, status: undefined };
  }
}

/** With its status the destination has said all there is to say. */
async function leave({ body }: OutboundAnswer): Promise<void> {
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > READ_BYTES_MAX) break;
    }
  } catch {
    // It broke off behind its status.
  }
}

/** By the time in it a receiver tells a message that is sent again by somebody who listened. */
export function callbackSignature(secret: string, unixSeconds: number, body: string): string {
  const mac = createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}
