import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The product as an operator has it. */
export const MAIN = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));

export type Settings = Readonly<Record<string, string>>;

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const COMMAND_MAX_MS = 120_000;

/** The environment without settings of whoever runs the suite. */
export function environment(settings: Settings): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('STRONGROOM_'),
  );
  return { ...Object.fromEntries(inherited), ...settings };
}

/** Runs a command to its end, whatever that is. */
export function runCommand(settings: Settings, ...words: string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { env: environment(settings), timeout: COMMAND_MAX_MS, maxBuffer: 64 * 1_048_576 };
    execFile(process.execPath, [MAIN, ...words], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout: stdout.trim(), stderr: stderr.trim() });
    });
  });
}

/** What it printed; throws unless it ended well. */
export async function command(settings: Settings, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(settings, ...words);
  if (code !== 0) throw new Error(`strongroom ${words.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
