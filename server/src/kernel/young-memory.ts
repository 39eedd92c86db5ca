import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Has the engine give back what was made a moment ago and is used no more: takes a millisecond or two. Undefined where it offers no
 * such thing. The flag stays: without it the call would end the process.
 */
export function youngCollector(): (() => void) | undefined {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('typeof gc === "function" ? gc : undefined');
  return typeof collect === 'function' ? () => void collect({ type: 'minor' }) : undefined;
}
