import type { EndSignal } from '../../../kernel/end-signal.js';
import { createStepQueue } from './queue.js';
import type { TailOptions } from './tail.js';
import { tailEvents } from './tail.js';

/** How often rights are looked at again while there is nothing to send, and how long a connection lasts before the reader is sent to a new one. */
const ASKED_MS = 30_000;
const LIFE_MS_MAX = 50 * 60_000;

export interface OpenTailOptions extends Omit<TailOptions, 'queue'> {
  readonly signal: EndSignal;
  readonly stopping: AbortSignal;
  readonly release: () => void;
}

/** The body of a tail. It leaves the hub and gives its place back as soon as it ends, whoever ends it and whoever reads on. */
export function openTail(options: OpenTailOptions): AsyncIterable<Buffer> {
  const { hubs, clock, tenantId, signal, stopping } = options;
  const beganMs = clock.monotonicMs();
  let askedMs = beganMs;

  function watch(): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - beganMs >= LIFE_MS_MAX) queue.end('restart');
    if (nowMs - askedMs < ASKED_MS) return;
    askedMs = nowMs;
    options.askStill().then(
      (withdrawn) => withdrawn && queue.end(withdrawn),
      // Who cannot be asked about is not told more.
      () => queue.end('restart'),
    );
  }

  const queue = createStepQueue(watch, () => {
    hubs.leave(tenantId, queue);
    signal.removeEventListener('abort', leave);
    stopping.removeEventListener('abort', leave);
    options.release();
  });
  const leave = (): void => queue.end('restart');
  signal.addEventListener('abort', leave);
  stopping.addEventListener('abort', leave);
  if (signal.aborted || stopping.aborted) leave();
  const events = tailEvents({ ...options, queue });
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => events.next(),
      return() {
        leave();
        // It may have joined only after it was told to leave.
        void events.return().finally(() => hubs.leave(tenantId, queue));
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}
