import type { ClientRequest, IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { CallEnd } from './call-end.js';
import { orAborted } from './call-end.js';
import { OutboundError, outboundFailureOf } from './outbound-error.js';
import type { PooledRequest, SocketPool } from './socket-pool.js';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** Name, value, name, value; with everything the message needs. */
  readonly headers: readonly string[];
  readonly body: Buffer | AsyncIterable<Buffer> | undefined;
  /** How long the body must be, where it was announced. */
  readonly bodyBytes: number | undefined;
  readonly poolName: string;
  readonly open: () => Promise<Socket>;
}

const HEADER_BYTES_MAX = 64 * 1024;

/**
 * Sends the request and resolves with the head of the answer. Never a second time: a request that failed may have been
 * carried out, and nobody here knows whether it can be repeated.
 */
export function exchangeMessages(
  wire: WireRequest,
  pool: SocketPool,
  end: CallEnd,
  headersMs: number,
): Promise<IncomingMessage> {
  const { method, path, poolName, open } = wire;
  const options: PooledRequest = {
    method,
    path,
    headers: [...wire.headers],
    agent: pool,
    setHost: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
    poolName,
    open,
  };
  const outgoing = request(options);
  // The platform drops what is past this number without a word; the bound on bytes is enough.
  outgoing.maxHeadersCount = 0;
  const destroy = (): void => {
    outgoing.destroy();
  };
  end.signal.addEventListener('abort', destroy);
  let isAwaited = false;
  let isAnswered = false;
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('socket', () => {
      isAwaited = true;
      end.await(headersMs);
    });
    outgoing.once('response', (incoming) => {
      isAwaited = false;
      isAnswered = true;
      end.rest();
      incoming.once('end', () => endRequest(outgoing));
      // Somebody has to listen, or an answer that breaks before it is read ends the process.
      incoming.on('error', () => {});
      resolve(incoming);
    });
    outgoing.once('upgrade', (_incoming, socket) => {
      socket.destroy();
      reject(new OutboundError('bad_answer'));
    });
    outgoing.on('error', (error) => reject(outboundFailureOf(error)));
    outgoing.once('close', () => {
      // Most often there is an answer by now, and an error takes time to be made.
      if (!isAnswered) reject(new OutboundError('unreachable'));
    });
  });
  const onProgress = (): void => {
    // A destination that takes the body is not silent.
    if (isAwaited) end.await(headersMs);
  };
  sendBody(outgoing, wire, onProgress).catch((error: unknown) => {
    end.fail(error instanceof OutboundError ? error : new OutboundError('body_failed', { cause: error }));
  });
  return orAborted(answered, end.signal);
}

/** The answer is complete. A request that is still being sent would hold the connection for as long as its body takes. */
function endRequest(outgoing: ClientRequest): void {
  if (!outgoing.writableFinished) outgoing.destroy();
}

async function sendBody(
  outgoing: ClientRequest,
  { body, bodyBytes }: Pick<WireRequest, 'body' | 'bodyBytes'>,
  onProgress: () => void,
): Promise<void> {
  if (body === undefined || Buffer.isBuffer(body)) {
    outgoing.end(body);
    return;
  }
  let sent = 0;
  for await (const piece of body) {
    if (outgoing.destroyed) return;
    sent += piece.length;
    if (bodyBytes !== undefined && sent > bodyBytes) throw new OutboundError('body_failed');
    if (!outgoing.write(piece)) await drained(outgoing);
    if (outgoing.destroyed) return;
    onProgress();
  }
  if (bodyBytes !== undefined && sent < bodyBytes) throw new OutboundError('body_failed');
  outgoing.end();
}

/** Until more can be written, or never will be. */
function drained(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      outgoing.off('drain', go).off('close', go);
      resolve();
    };
    outgoing.on('drain', go).on('close', go);
  });
}
