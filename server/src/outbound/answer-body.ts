import { BodyCollector } from '../kernel/body-collector.js';
import { createDeferred } from '../kernel/deferred.js';
import type { PieceSink } from '../kernel/flow.js';
import { badAnswer } from './answer-head.js';
import type { CallEnd } from './call-end.js';
import type { IncomingAnswer } from './exchange.js';
import { OutboundError } from './outbound-error.js';

export interface BodyBounds {
  /** Longest silence of the destination while the next piece is wanted. */
  readonly idleMs: number;
  /** How long a piece may wait to be wanted. A reader that forgets the body would hold its connection for ever. */
  readonly unreadMs: number;
  readonly answerBytesMax: number | undefined;
}

const unread = (): OutboundError => new OutboundError('aborted');

/** The bytes as they come. Reading stops where the reader does, so a fast destination fills no memory. */
export function answerBody(incoming: IncomingAnswer, end: CallEnd, bounds: BodyBounds): AsyncIterable<Buffer> {
  const { answerBytesMax = Number.POSITIVE_INFINITY } = bounds;
  const { framing, bodyBytes } = incoming.head;
  if (bodyBytes > answerBytesMax) throw new OutboundError('too_large');
  if (framing !== 'none') end.await(bounds.unreadMs, unread);
  return pieces(incoming, end, bounds);
}

async function* pieces(incoming: IncomingAnswer, end: CallEnd, bounds: BodyBounds): AsyncGenerator<Buffer> {
  const { answerBytesMax = Number.POSITIVE_INFINITY } = bounds;
  let bytes = 0;
  let isOver = false;
  let failure: OutboundError | undefined;
  let next = createDeferred<Buffer | undefined>();
  const over = (): void => {
    isOver = true;
    next.resolve(undefined);
  };
  try {
    end.await(bounds.idleMs);
    incoming.receive({
      onPiece(piece) {
        next.resolve(piece);
        return false;
      },
      onWhole: over,
      onFailed(error) {
        failure = error;
        over();
      },
    });
    for (;;) {
      const piece = await next.promise;
      end.signal.throwIfAborted();
      if (piece === undefined) break;
      bytes += piece.length;
      if (bytes > answerBytesMax) end.fail(new OutboundError('too_large'));
      if (incoming.isFragmented) end.fail(badAnswer());
      end.signal.throwIfAborted();
      end.await(bounds.unreadMs, unread);
      yield piece;
      if (isOver) break;
      end.await(bounds.idleMs);
      next = createDeferred();
      incoming.goOn();
    }
    if (failure) throw failure;
  } finally {
    end.rest();
    incoming.giveUp();
  }
}

/**
 * The same as `pieces`, without an iterator: for a large answer that takes half the time. An answer that streams to the client
 * may come in any pieces, as server-sent events do.
 */
export function flowOut(incoming: IncomingAnswer, end: CallEnd, bounds: BodyBounds, sink: PieceSink): Promise<void> {
  const { idleMs, unreadMs, answerBytesMax = Number.POSITIVE_INFINITY } = bounds;
  const { promise, resolve, reject } = createDeferred<void>();
  let bytes = 0;
  const goOn = (): void => {
    end.await(idleMs);
    incoming.goOn();
  };
  end.await(idleMs);
  incoming.receive({
    onPiece(piece) {
      bytes += piece.length;
      if (bytes > answerBytesMax) end.fail(new OutboundError('too_large'));
      if (end.signal.aborted) return false;
      if (sink.write(piece)) {
        end.await(idleMs);
        return true;
      }
      end.await(unreadMs, unread);
      sink.onRoom(goOn);
      return false;
    },
    onWhole() {
      end.rest();
      resolve();
    },
    onFailed(failure) {
      end.rest();
      reject(failure);
    },
  });
  return promise;
}

/** Longer ones are worth their pieces. */
const SHORT_BYTES = 65_536;

export function isShort({ head: { framing, bodyBytes } }: IncomingAnswer): boolean {
  return framing === 'counted' && bodyBytes > 0 && bodyBytes <= SHORT_BYTES;
}

/** The same as `pieces` to its end, without an iterator: that takes a tenth of the time of a short call. */
export function readShortBody(incoming: IncomingAnswer, end: CallEnd, { idleMs }: BodyBounds): Promise<Buffer> {
  const { promise, resolve, reject } = createDeferred<Buffer>();
  const read = new BodyCollector();
  end.await(idleMs);
  incoming.receive({
    onPiece(piece) {
      read.add(piece);
      if (incoming.isFragmented) end.fail(badAnswer());
      else end.await(idleMs);
      return true;
    },
    onWhole() {
      end.rest();
      resolve(read.take());
    },
    onFailed: reject,
  });
  return promise;
}
