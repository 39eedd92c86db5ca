import { useEffect, useState } from 'react';

const SECOND_MS = 1_000;

/** The seconds that are left of a time, from each new `cause` on; none where there is nothing to wait for. */
export function useCountdown(seconds: number | undefined, cause: unknown): number | undefined {
  const [left, setLeft] = useState(seconds);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same time told again counts from the start.
  useEffect(() => setLeft(seconds), [seconds, cause]);
  useEffect(() => {
    if (left === undefined || left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), SECOND_MS);
    return () => clearTimeout(timer);
  }, [left]);
  return left;
}
