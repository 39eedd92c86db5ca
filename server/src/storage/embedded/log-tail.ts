import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { assert } from '../../kernel/assert.js';

const LINES_KEPT = 12;
/** A child of a killed server may hold the pipe open for a while after it. */
const DRAIN_LIMIT_MS = 500;

/** Passes on each line that a process writes, and tells the last ones once it has ended. */
export function followLines({ stdout, stderr }: ChildProcess, log: (line: string) => void): () => Promise<string> {
  assert(stdout && stderr, 'a bound child writes into pipes');
  stdout.resume();
  const lines: string[] = [];
  const reader = createInterface({ input: stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
    log(line);
  });
  const isDrained = once(reader, 'close');
  return async () => {
    await Promise.race([isDrained, pause(DRAIN_LIMIT_MS)]);
    return lines.length === 0 ? '' : `Its last words:\n${lines.join('\n')}`;
  };
}
