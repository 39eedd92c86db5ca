import { overloaded } from '../kernel/errors.js';

/** Requests whose body is still on its way. */
export interface BodyWaits {
  /** Waits for a body on behalf of a client; refuses when it, or everybody together, waits for too many. */
  during<T>(limitKey: string, read: () => Promise<T>): Promise<T>;
  readonly waiting: () => number;
}

export interface BodyWaitsOptions {
  readonly waitingMax: number;
  readonly onWait: () => void;
  readonly onDone: () => void;
}

/** One address that holds back many bodies must not use up the places of all others. */
const PER_CLIENT_MAX = 200;

export function createBodyWaits(options: BodyWaitsOptions): BodyWaits {
  const byClient = new Map<string, number>();
  let waiting = 0;

  function leave(limitKey: string): void {
    waiting -= 1;
    const left = (byClient.get(limitKey) ?? 1) - 1;
    if (left === 0) byClient.delete(limitKey);
    else byClient.set(limitKey, left);
    options.onDone();
  }

  return {
    waiting: () => waiting,
    async during(limitKey, read) {
      const own = byClient.get(limitKey) ?? 0;
      if (waiting >= options.waitingMax || own >= PER_CLIENT_MAX) throw overloaded();
      waiting += 1;
      byClient.set(limitKey, own + 1);
      options.onWait();
      try {
        return await read();
      } finally {
        leave(limitKey);
      }
    },
  };
}
