import type { Transform } from 'node:stream';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ByteBudget, Share } from '../../../kernel/byte-budget.js';
import { createByteBudget } from '../../../kernel/byte-budget.js';
import type { Outbound, OutboundAnswer } from '../../../outbound/outbound.js';
import { OutboundError } from '../../../outbound/outbound-error.js';
import type { EngineAnswer, EngineRequest } from '../../../sandbox/run.js';

/** What a request of code may take, by the clock and in bytes of the answer, compressed and not. */
const TOTAL_MS = 29_000;
const ANSWER_BYTES_MAX = 10 * 1024 * 1024;
const ENCODINGS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
const ACCEPTED = 'gzip, deflate, br';
/** The engine adds headers of its own, which tell of it. */
const OF_THE_ENGINE = /^(cf-|accept-encoding$)/i;
/** Bodies are handed over whole and plain. */
const OF_THE_BODY = new Set(['content-encoding', 'content-length']);

const FREE_BYTES = 64 * 1024;
/** An answer is here once as it came, and once as it goes to the engine. */
const HELD_TIMES = 2;

export interface WayOutside {
  readonly outbound: Outbound;
  /** Answers that are held at once, by tenant. */
  readonly bytes: ByteBudget;
}

/** Four large answers at once, two of one tenant; the others wait, no longer than code would. */
export function createAnswerBytes(): ByteBudget {
  const bytesMax = 4 * HELD_TIMES * ANSWER_BYTES_MAX;
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
      headers: [...headers.filter(([name]) => !OF_THE_ENGINE.test(name)), ['Accept-Encoding', ACCEPTED]],
      ...(body.length > 0 && { body }),
      signal,
      bounds: { totalMs: TOTAL_MS, answerBytesMax: ANSWER_BYTES_MAX },
    });
    const plain = await plainBody(answer, method, share);
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

/** What is longer than a little waits for room before it is read, once and for as much as it may become. */
async function plainBody({ headers, body }: OutboundAnswer, method: string, share: Share): Promise<Buffer> {
  const [, encoding = ''] = headers.find(([name]) => name.toLowerCase() === 'content-encoding') ?? [];
  const decompress = method === 'HEAD' ? undefined : ENCODINGS.get(encoding.trim().toLowerCase());
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of decompress ? decompressed(body, decompress()) : body) {
    if (bytes <= FREE_BYTES && bytes + piece.length > FREE_BYTES) await share.need(ANSWER_BYTES_MAX * HELD_TIMES);
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) throw new OutboundError('too_large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** A pipe does not hand on the failure of its source, which would then be nobody's and end the process. */
function decompressed(body: AsyncIterable<Buffer>, decompress: Transform): AsyncIterable<Buffer> {
  const source = Readable.from(body);
  source.once('error', (error) => decompress.destroy(error));
  return source.pipe(decompress);
}

function failed(failure: string): EngineAnswer {
  return { status: 502, headers: [], body: Buffer.alloc(0), failure };
}
