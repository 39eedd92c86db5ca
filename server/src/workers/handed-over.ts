import type { Worker } from 'node:cluster';

/** A connection on its way to a worker. */
interface Handle {
  close(): void;
}

const LAST_WORDS_MS = 100;

/**
 * A connection that was handed to a worker which died before it said that it has it is forgotten by `node:cluster`:
 * nobody answers it and nobody closes it. It is closed here, as the system closes the other connections of the dead.
 * To another worker it must not go: the dead one may have read from it.
 *
 * The messages are inside knowledge of Node. One that spells them differently some day only brings the fault back, and a
 * test shows it.
 */
export function closeWhatIsHandedOver(worker: Worker): void {
  const child = worker.process;
  const onTheWay = new Map<unknown, Handle>();
  const send = child.send.bind(child) as (...args: readonly unknown[]) => boolean; // Passed on as it came.
  child.send = (...args: readonly unknown[]): boolean => {
    const [message, handle] = args as [{ act?: unknown; seq?: unknown }, Handle | undefined]; // Only looked at.
    if (message?.act === 'newconn' && handle) onTheWay.set(message.seq, handle);
    return send(...args);
  };
  child.on('internalMessage', (message: { ack?: unknown }) => onTheWay.delete(message.ack));
  child.once('exit', () => {
    // What it said last may still be unread.
    setTimeout(() => {
      for (const handle of onTheWay.values()) handle.close();
    }, LAST_WORDS_MS).unref();
  });
}
