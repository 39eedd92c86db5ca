import type { Worker } from 'node:cluster';

/** A connection on its way to a worker. */
interface Handle {
  close(): void;
}

const LAST_WORDS_MS = 100;

/**
 * If a worker dies after a connection was sent to it and before it confirmed, `node:cluster` forgets the connection:
 * nobody answers it and nobody closes it. It is closed here, like the worker's other connections. It must not go to
 * another worker: the dead one may have read from it.
 *
 * These messages are internal to Node. If a release changes them, the fault comes back, and a test detects it.
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
    // Its last messages may still be unread.
    setTimeout(() => {
      for (const handle of onTheWay.values()) handle.close();
    }, LAST_WORDS_MS).unref();
  });
}
