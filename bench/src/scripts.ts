import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Workshop } from './workshop.js';

export function scriptPath(name: string): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}

/** The first line of output that matches, or the failure of a process that ended without one. */
export function firstLine(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) throw new Error('assertion failed: the output is piped');
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      const found = pattern.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    lines.once('close', () => reject(new Error('a process ended before it said what it was asked for')));
    child.once('error', reject);
  });
}

/** A server of ours that prints its port. */
export async function startBaseline(
  workshop: Workshop,
  name: string,
  options: object,
): Promise<{ readonly port: number; readonly pid: number; stop(): Promise<void> }> {
  const { child, stop } = workshop.spawn([scriptPath(`baselines/${name}`), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { port: Number(await firstLine(child, /^(\d+)$/)), pid: child.pid ?? 0, stop };
}

/** Runs a script of ours to the JSON it prints. */
export async function runScript(
  workshop: Workshop,
  name: string,
  options: object,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const { child, stop } = workshop.spawn([scriptPath(name)], { stdio: ['pipe', 'pipe', 'inherit'], env });
  child.stdin?.end(JSON.stringify(options));
  const line = await firstLine(child, /^([{[].*)$/);
  await stop();
  return line;
}
