/** Runs pieces of work under the same name one after another; others side by side. */
export type KeyedLock = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(work);
    // The next caller waits for this one to end, whether it succeeds or fails.
    const over = mine.catch(() => {});
    last.set(name, over);
    try {
      return await mine;
    } finally {
      if (last.get(name) === over) last.delete(name);
    }
  };
}
