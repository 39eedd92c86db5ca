import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { TestRun } from './run-tests.js';

/** An account that every system has. */
export const NOBODY = 65_534;
const RUNNER = fileURLToPath(new URL('./run-files.js', import.meta.url));

/**
 * Runs test files as an account without rights, because root may do what these tests expect to be refused. Undefined where
 * that account may not read the checkout.
 */
export async function runAsOrdinaryUser(sources: readonly string[]): Promise<TestRun | undefined> {
  const child = spawn(process.execPath, [RUNNER, ...sources], {
    uid: NOBODY,
    gid: NOBODY,
    env: { ...process.env, HOME: '/nonexistent' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  const printed = (await text(child.stdout)).trimEnd();
  if ((await exited) !== 0) return undefined;
  const end = printed.lastIndexOf('\n') + 1;
  process.stdout.write(printed.slice(0, end));
  const { results, secondsByFile } = JSON.parse(printed.slice(end));
  return { results, secondsByFile: new Map(secondsByFile) };
}
