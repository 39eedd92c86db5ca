import { overloaded } from '../kernel/errors.js';

/** Requests whose body is still on its way. */
export interface BodyWaits {
  /** Waits for a body on behalf of a client; refuses when it, or everybody together, waits for too many. */
  during<T>(limitKey: string, read: () => Promise<T>): Promise<T>;
  /** Counts bytes that have arrived and are held; refuses when a client, or everybody together, has sent too many. */
  hold(limitKey: string, bytes: number): void;
  release(limitKey: string, bytes: number): void;
  readonly waiting: () => number;
}

export interface BodyWaitsOptions {
  readonly waitingMax: number;
  readonly onWait: () => void;
  readonly onDone: () => void;
}

/** One address that holds back many bodies must not use up the places of all others. */
const PER_CLIENT_MAX = 200;
/** Bytes of bodies that are on their way or wait for their turn. */
const BYTES_MAX = 33_554_432;
const BYTES_PER_CLIENT_MAX = BYTES_MAX / 2;

export function createBodyWaits(options: BodyWaitsOptions): BodyWaits {
  const byClient = new Map<string, number>();
  const bytesByClient = new Map<string, number>();
  let waiting = 0;
  let bytesHeld = 0;

  function leave(limitKey: string): void {
    waiting -= 1;
    const left = (byClient.get(limitKey) ?? 1) - 1;
    if (left === 0) byClient.delete(limitKey);
    else byClient.set(limitKey, left);
    options.onDone();
  }

  return {
    waiting: () => waiting,
    hold(limitKey, bytes) {
      const own = (bytesByClient.get(limitKey) ?? 0) + bytes;
      if (bytesHeld + bytes > BYTES_MAX || own > BYTES_PER_CLIENT_MAX) throw overloaded();
      bytesHeld += bytes;
      bytesByClient.set(limitKey, own);
    },
    release(limitKey, bytes) {
      if (bytes === 0) return;
      bytesHeld -= bytes;
      const own = (bytesByClient.get(limitKey) ?? bytes) - bytes;
      if (own === 0) bytesByClient.delete(limitKey);
      else bytesByClient.set(limitKey, own);
    },
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
