import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Tally } from './checks.js';
import { report } from './checks.js';

/** An account every system has. */
export const NOBODY = 65_534;
const RUNNER = fileURLToPath(new URL('./run-files.js', import.meta.url));

/**
 * Root passes every lock, so some tests say they cannot run as root. Those run a second time as an account without
 * rights, where that account may read the checkout.
 */
export async function runAsOrdinaryUser(total: Tally): Promise<void> {
  if (process.getuid?.() !== 0 || total.notRun.length === 0) return;
  // On a cluster tests are left out for its sake.
  if (process.env.TEST_DATABASE === 'citus') return;
  const files = [...new Set(total.notRun.map(({ file }) => file))];
  const second = await runFiles(files);
  if (second === undefined) return;
  const stillNotRun = new Set(second.notRun.map(({ name }) => name));
  const caughtUp = total.notRun.filter(({ name }) => !stillNotRun.has(name));
  total.notRun = total.notRun.filter(({ name }) => stillNotRun.has(name));
  // The others in these files have been counted as root already; a failure counts wherever it shows.
  total.failed += second.failed;
  total.passed += Math.max(0, caughtUp.length - second.failed);
  report('ok  ', `${caughtUp.length} test(s) run again without root's rights`);
}

function runFiles(files: readonly string[]): Promise<Tally | undefined> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [RUNNER, ...files], {
      uid: NOBODY,
      gid: NOBODY,
      env: { ...process.env, HOME: '/nonexistent' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once('error', () => resolve(undefined));
    child.once('close', () => {
      const last = text.trim().split('\n').at(-1) ?? '';
      if (!last.startsWith('{')) {
        resolve(undefined);
        return;
      }
      process.stdout.write(text.slice(0, text.lastIndexOf(last)));
      resolve(JSON.parse(last));
    });
  });
}
