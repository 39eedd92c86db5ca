import { EXIT, ExitError } from '../../kernel/exit.js';
import { type Account, accountsToTry } from './account.js';
import type { Binaries } from './binaries.js';
import { type ChildOutcome, type Program, runBound } from './bound-child.js';
import type { DataFolder } from './data-folder.js';
import { letAccountThrough } from './ownership.js';

const PROBE_LIMIT_MS = 10_000;

/**
 * Enters the given folders, then prints the server's version: this asks the kernel instead of interpreting file modes.
 */
const PROBE_SCRIPT = 'server=$1; shift; for folder; do cd -- "$folder" || exit 1; done; exec "$server" --version';

export interface ChosenAccount extends Account {
  /** Major version of the server, learnt on the way. */
  readonly serverMajor: number;
}

/** The first account that can reach the programs and the folders. */
export async function chooseAccount(
  folder: DataFolder,
  binaries: Binaries,
  otherFolders: readonly string[],
): Promise<ChosenAccount> {
  const args = ['-c', PROBE_SCRIPT, 'sh', binaries.postgres, folder.root, ...otherFolders];
  const refusals: string[] = [];
  for (const account of await accountsToTry(folder)) {
    const { isSuccess, stdout, stderr } = await probe(folder, account, {
      path: '/bin/sh',
      args,
      libraries: binaries.libraries,
    });
    const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
    if (isSuccess && major !== undefined) return { ...account, serverMajor: Number(major) };
    refusals.push(`${account.title}: ${stderr || 'not a PostgreSQL server'}`);
  }
  throw new ExitError(
    EXIT.configuration,
    process.getuid?.() === 0 ? rootAdvice(refusals) : ordinaryAdvice(binaries, refusals),
  );
}

async function probe(folder: DataFolder, account: Account, program: Program): Promise<ChildOutcome> {
  try {
    await letAccountThrough(folder.root, account);
    return await runBound(account, program, PROBE_LIMIT_MS);
  } catch (error) {
    return { isSuccess: false, stdout: '', stderr: error instanceof Error ? error.message : String(error) };
  }
}

function rootAdvice(refusals: readonly string[]): string {
  return (
    'PostgreSQL does not run as root, and no other account can reach both its programs and the data folder ' +
    `(${refusals.join('; ')}). Do one of these: run Strongroom as an ordinary user; set STRONGROOM_DATA_DIR to a ` +
    'folder outside private homes, such as /var/lib/strongroom, and keep the program outside them too, such as in ' +
    '/opt; or set STRONGROOM_DATABASE_URL to a PostgreSQL server.'
  );
}

function ordinaryAdvice({ postgres }: Binaries, refusals: readonly string[]): string {
  return (
    `The embedded PostgreSQL server ${postgres} cannot be run (${refusals.join('; ')}). It needs Linux with glibc or ` +
    'macOS, on a file system that allows programs. Otherwise set STRONGROOM_DATABASE_URL to a PostgreSQL server.'
  );
}
