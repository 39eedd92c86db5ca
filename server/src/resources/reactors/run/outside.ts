import type { ByteBudget } from '../../../kernel/byte-budget.js';
import { createByteBudget } from '../../../kernel/byte-budget.js';
import type { Outbound } from '../../../outbound/outbound.js';
import { OutboundError } from '../../../outbound/outbound-error.js';
import { ACCEPTED_ENCODINGS, readPlainBody, shareOfAnswer } from '../../../outbound/plain-body.js';
import type { EngineAnswer, EngineRequest } from '../../../sandbox/run.js';

/** What a request of code may take, by the clock and in bytes of the answer, compressed and not. */
const TOTAL_MS = 29_000;
const ANSWER_BYTES_MAX = 10 * 1024 * 1024;
/** The engine adds headers of its own, which tell of it. */
const OF_THE_ENGINE = /^(cf-|accept-encoding$)/i;
/** Bodies are handed over whole and plain. */
const OF_THE_BODY = new Set(['content-encoding', 'content-length']);

export interface WayOutside {
  readonly outbound: Outbound;
  /** Answers that are held at once, by tenant. */
  readonly bytes: ByteBudget;
}

/** Four large answers at once, two of one tenant; the others wait, no longer than code would. */
export function createAnswerBytes(): ByteBudget {
  const bytesMax = 4 * shareOfAnswer(ANSWER_BYTES_MAX);
  const waiting = { waitingMax: 512, ownerWaitingMax: 256, waitMaxMs: TOTAL_MS };
  return createByteBudget({ bytesMax, ownerBytesMax: bytesMax / 2, ...waiting });
}

/** Sends a request of tenant code out, and hands back the answer as fetch would show it: decompressed and whole. */
export async function answerFromOutside(
  { outbound, bytes }: WayOutside,
  tenantId: string,
  { method, url, headers, body }: EngineRequest,
  signal: AbortSignal,
): Promise<EngineAnswer> {
  const share = bytes.open(tenantId);
  try {
    const answer = await outbound.send({
      tenantId,
      method,
      url,
      headers: [...headers.filter(([name]) => !OF_THE_ENGINE.test(name)), ['Accept-Encoding', ACCEPTED_ENCODINGS]],
      ...(body.length > 0 && { body }),
      signal,
      bounds: { totalMs: TOTAL_MS, answerBytesMax: ANSWER_BYTES_MAX },
    });
    // Once and for as much as it may become: code asks for several at a time, and its time is short.
    const cover = () => share.need(shareOfAnswer(ANSWER_BYTES_MAX));
    const plain = await readPlainBody(answer, method, { cover }, ANSWER_BYTES_MAX);
    return {
      status: answer.status,
      headers: answer.headers.filter(([name]) => !OF_THE_BODY.has(name.toLowerCase())),
      body: plain,
      release: share,
    };
  } catch (error) {
    share();
    return failed(error instanceof OutboundError ? error.message : 'The answer of the destination cannot be read.');
  }
}

function failed(failure: string): EngineAnswer {
  return { status: 502, headers: [], body: Buffer.alloc(0), failure };
}
