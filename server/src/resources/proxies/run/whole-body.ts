import { fragmented } from '../../../http/transport/body.js';
import { AppError } from '../../../kernel/errors.js';
import type { GrowingBytes, GrowingShare } from '../../../kernel/growing-bytes.js';
import { createGrowingBytes } from '../../../kernel/growing-bytes.js';
import type { WholeReading } from '../../../kernel/read-whole.js';
import { readWhole } from '../../../kernel/read-whole.js';

/** Bodies that are read whole, and answers that code is given. */
export const WHOLE_BYTES_MAX = 5_242_880;
/** As it came, as text or JSON, and as it goes on. An answer takes less, when most of the request is gone. */
const HELD_TIMES = 3;
/** Shorter than the listener's 30 s for a whole request, which end its connection. */
const WHOLE_BODY_MS_MAX = 28_000;

/** 120 MiB, half of them for one tenant. */
export function createWholeBytes(): GrowingBytes {
  return createGrowingBytes({
    ...{ wholeBytes: WHOLE_BYTES_MAX * HELD_TIMES, wholesMax: 4, ownerWholesMax: 2 },
    ...{ waitingMax: 512, ownerWaitingMax: 256, waitMaxMs: 10_000 },
  });
}

/** A body whole. What is longer than a little takes room as it comes, and must have come in time. */
export function readWholeBody(
  pieces: AsyncIterable<Buffer>,
  share: GrowingShare,
  after?: WholeReading['after'],
): Promise<Buffer> {
  return readWhole(pieces, {
    ...{ bytesMax: WHOLE_BYTES_MAX, heldTimes: HELD_TIMES, share, tooLarge, after },
    // A short one is spared the timer.
    ...{ msMax: WHOLE_BODY_MS_MAX, timedFrom: 'room', tooSlow, fragmented },
  });
}

function tooLarge(): AppError {
  return new AppError('payload_too_large', `The body is larger than ${WHOLE_BYTES_MAX} bytes.`);
}

function tooSlow(): AppError {
  return new AppError('request_timeout', 'The body took too long to arrive.');
}
