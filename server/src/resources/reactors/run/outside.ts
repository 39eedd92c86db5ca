import type { Transform } from 'node:stream';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Outbound, OutboundAnswer } from '../../../outbound/outbound.js';
import { OutboundError } from '../../../outbound/outbound-error.js';
import type { EngineAnswer, EngineRequest } from '../../../sandbox/run.js';

/** What a request of code may take, by the clock and in bytes of the answer, compressed and not. */
const TOTAL_MS = 29_000;
const ANSWER_BYTES_MAX = 10 * 1024 * 1024;
const ENCODINGS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
const ACCEPTED = 'gzip, deflate, br';
/** The engine adds headers of its own, which tell of it. */
const OF_THE_ENGINE = /^(cf-|accept-encoding$)/i;
/** Bodies are handed over whole and plain. */
const OF_THE_BODY = new Set(['content-encoding', 'content-length']);

/** Sends a request of tenant code out, and hands back the answer as fetch would show it: decompressed and whole. */
export async function answerFromOutside(
  outbound: Outbound,
  tenantId: string,
  { method, url, headers, body }: EngineRequest,
  signal: AbortSignal,
): Promise<EngineAnswer> {
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
    const plain = await plainBody(answer, method);
    return {
      status: answer.status,
      headers: answer.headers.filter(([name]) => !OF_THE_BODY.has(name.toLowerCase())),
      body: plain,
    };
  } catch (error) {
    return failed(error instanceof OutboundError ? error.message : 'The answer of the destination cannot be read.');
  }
}

async function plainBody({ headers, body }: OutboundAnswer, method: string): Promise<Buffer> {
  const [, encoding = ''] = headers.find(([name]) => name.toLowerCase() === 'content-encoding') ?? [];
  const decompress = method === 'HEAD' ? undefined : ENCODINGS[encoding.trim().toLowerCase()];
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of decompress ? Readable.from(body).pipe(decompress()) : body) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) throw new OutboundError('too_large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function failed(failure: string): EngineAnswer {
  return { status: 502, headers: [], body: Buffer.alloc(0), failure };
}
