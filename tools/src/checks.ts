import { spawn } from 'node:child_process';

/** Runs a program that is one check by itself, such as the linter, and says whether it passed. */
export async function runProgram(title: string, command: string, args: readonly string[]): Promise<boolean> {
  const code = await new Promise<number>((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit' });
    child.once('error', () => resolve(1));
    child.once('close', (exitCode) => resolve(exitCode ?? 1));
  });
  report(code === 0 ? 'ok  ' : 'FAIL', title);
  return code === 0;
}

export function report(mark: string, title: string): void {
  process.stdout.write(`${mark} ${title}\n`);
}
