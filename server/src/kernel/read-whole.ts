import { BodyCollector, FragmentWatch } from './body-collector.js';
import { createDeferred } from './deferred.js';
import type { GrowingShare } from './growing-bytes.js';

/** How something that comes in pieces is read whole. */
export interface WholeReading {
  readonly bytesMax: number;
  /** How often all of it is held in the end, in one form or another. */
  readonly heldTimes: number;
  /** Covers what is longer than a little, as it comes. */
  readonly share: Pick<GrowingShare, 'cover'>;
  /** For all of it. Waiting for room counts too. */
  readonly msMax: number;
  /** When the time begins: at once, or with the first byte that takes room, where somebody else bounds it until then. */
  readonly timedFrom: 'start' | 'room';
  readonly tooLarge: () => Error;
  readonly tooSlow: () => Error;
  /** The error for a body of very many very small pieces. */
  readonly fragmented: () => Error;
  /** A timer that can be cancelled; tests replace it. */
  readonly after?: ((ms: number, call: () => void) => () => void) | undefined;
}

/** Up to here nothing is counted: as many such as may be read at once still fit into memory. */
export const UNCOUNTED_WHOLE_BYTES = 64 * 1024;
/** Room is asked for in steps of so many bytes. */
const STEP_BYTES = 32 * 1024;

export async function readWhole(source: AsyncIterable<Buffer>, reading: WholeReading): Promise<Buffer> {
  const { bytesMax, heldTimes, share } = reading;
  const pieces = source[Symbol.asyncIterator]();
  const read = new BodyCollector();
  const watch = new FragmentWatch();
  let deadline = reading.timedFrom === 'start' ? new Deadline(reading) : undefined;
  try {
    for (;;) {
      const next = pieces.next();
      const { done, value } = await (deadline ? deadline.orOver(next) : next);
      if (done) return read.take();
      const bytes = read.bytes + value.length;
      if (bytes > bytesMax) throw reading.tooLarge();
      if (watch.add(value.length)) throw reading.fragmented();
      const counted = bytes - UNCOUNTED_WHOLE_BYTES;
      if (counted > 0) {
        deadline ??= new Deadline(reading);
        const covered = share.cover(Math.ceil(counted / STEP_BYTES) * STEP_BYTES * heldTimes);
        if (covered) await covered;
      }
      read.add(value);
    }
  } catch (error) {
    // Nobody waits for it: a source that says nothing ends later, or by what else its reader does about the failure.
    pieces.return?.().catch(() => {});
    throw error;
  } finally {
    deadline?.end();
  }
}

/** Fails what is awaited once the time is over. */
class Deadline {
  readonly #tooSlow: () => Error;
  readonly #cancel: () => void;
  #isOver = false;
  /** Of what is awaited now. One promise for all waiting would keep a note of every piece. */
  #fail: ((reason: unknown) => void) | undefined;

  constructor({ msMax, tooSlow, after = afterMs }: Pick<WholeReading, 'msMax' | 'tooSlow' | 'after'>) {
    this.#tooSlow = tooSlow;
    this.#cancel = after(msMax, () => {
      this.#isOver = true;
      this.#fail?.(tooSlow());
    });
  }

  orOver<T>(awaited: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = createDeferred<T>();
    this.#fail = reject;
    awaited.then(resolve, reject);
    if (this.#isOver) reject(this.#tooSlow());
    return promise;
  }

  end(): void {
    this.#cancel();
  }
}

function afterMs(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}
