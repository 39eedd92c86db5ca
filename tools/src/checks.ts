import { spawn } from 'node:child_process';

/** A test that could not run here, and why. */
export interface NotRun {
  readonly file: string;
  readonly name: string;
  readonly reason: string;
}

/** How one part of the run ended. */
export interface Tally {
  passed: number;
  failed: number;
  notRun: NotRun[];
  /** Seconds spent in each test file, where they are known. */
  readonly secondsByFile?: ReadonlyMap<string, number>;
}

/** Runs a program that is one check by itself, such as the linter. */
export async function runProgram(title: string, command: string, args: readonly string[]): Promise<Tally> {
  const code = await new Promise<number>((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit' });
    child.once('error', () => resolve(1));
    child.once('close', (exitCode) => resolve(exitCode ?? 1));
  });
  report(code === 0 ? 'ok  ' : 'FAIL', title);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, notRun: [] };
}

export function report(mark: string, title: string): void {
  process.stdout.write(`${mark} ${title}\n`);
}

export function add(total: Tally, part: Tally): void {
  total.passed += part.passed;
  total.failed += part.failed;
  total.notRun.push(...part.notRun);
}
