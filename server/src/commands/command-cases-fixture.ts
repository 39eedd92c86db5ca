import { join } from 'node:path';
import { newId } from '../kernel/ids.js';
import { runCommandLine } from './command-line.js';

/** What a command does where there is no database: refuses it, makes one, says so, or has no business with it. */
export type CommandKind = 'refuses' | 'makes' | 'reports' | 'needs none';

export interface CommandCase {
  readonly kind: CommandKind;
  /** Arguments that would do elsewhere. */
  readonly words?: readonly string[];
  /** Arguments that would do nowhere, beyond what the parser of the command line sees. */
  readonly wrong?: readonly string[];
}

export interface CommandFolders {
  /** A file that holds a passphrase. */
  readonly passphraseFile: string;
  /** A folder that is not the working one. */
  readonly outside: string;
  /** What strongroom backup wrote. */
  readonly backup: string;
}

const TENANT = newId();

/** One for each command there is: a test fails for a new one without a case. */
export function commandCases({
  passphraseFile,
  outside,
  backup,
}: CommandFolders): Readonly<Record<string, CommandCase>> {
  const passphrase = ['--passphrase-file', passphraseFile];
  const application = ['--tenant', TENANT, '--permission', 'tenant:read', '--type'];
  const missing = join(outside, 'missing');
  return {
    serve: { kind: 'makes' },
    migrate: { kind: 'makes', wrong: ['--distribute', 'postgres'] },
    restore: { kind: 'makes', words: ['--from', backup], wrong: ['--from', missing] },
    doctor: { kind: 'reports' },
    'key generate': { kind: 'needs none', wrong: ['--type', 'made-up'] },
    'root-key generate': { kind: 'needs none' },
    'export-key generate': {
      kind: 'needs none',
      words: ['--out', join(outside, 'export.key')],
      wrong: ['--out', passphraseFile],
    },
    'tenant create': { kind: 'refuses', words: ['--name', 'Anybody'], wrong: ['--name', ' '] },
    'tenant list': { kind: 'refuses' },
    'tenant transfer': {
      kind: 'refuses',
      words: ['--tenant', TENANT, '--to', 'anybody@example.com'],
      wrong: ['--tenant', 'nobody', '--to', 'nobody'],
    },
    'user create': { kind: 'refuses', words: ['--email', 'anybody@example.com'], wrong: ['--email', 'nobody'] },
    'user list': { kind: 'refuses' },
    'user reset-password': { kind: 'refuses', words: ['--user', 'anybody@example.com'], wrong: ['--user', 'nobody'] },
    'user disable': { kind: 'refuses', words: ['--user', 'anybody@example.com'], wrong: ['--user', 'nobody'] },
    'user enable': { kind: 'refuses', words: ['--user', 'anybody@example.com'], wrong: ['--user', 'nobody'] },
    'application create': {
      kind: 'refuses',
      words: [...application, 'management'],
      wrong: [...application, 'made-up'],
    },
    'keys rotate': { kind: 'refuses', words: ['--all'], wrong: [] },
    'keys rotate-root': { kind: 'refuses', wrong: ['--new-key-file', missing] },
    'keys verify': { kind: 'refuses', wrong: ['--tenant', 'nobody'] },
    'tokens export': {
      kind: 'refuses',
      words: ['--tenant', TENANT, '--out', 'export', ...passphrase],
      wrong: ['--tenant', 'nobody', '--out', 'export', ...passphrase, '--segment-tokens', '0'],
    },
    'tokens import': {
      kind: 'refuses',
      words: ['--tenant', TENANT, '--in', outside, ...passphrase],
      wrong: ['--tenant', 'nobody', '--in', outside, ...passphrase, '--on-conflict', 'made-up'],
    },
    'logs export': {
      kind: 'refuses',
      words: ['--tenant', TENANT, '--to', 'logs.jsonl'],
      wrong: ['--tenant', 'nobody', '--to', 'logs.jsonl'],
    },
    'logs purge': { kind: 'refuses', words: ['--tenant', TENANT], wrong: ['--tenant', 'nobody'] },
    backup: { kind: 'refuses', words: ['--to', 'backup'], wrong: ['--to', passphraseFile] },
  };
}

export interface EndedHere {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** In this process, which saves a start for every command. Not for one that serves. */
export async function runHere(name: string, words: readonly string[] = []): Promise<EndedHere> {
  const printed: string[] = [];
  const said: string[] = [];
  const output = { print: (text: string) => void printed.push(text), say: (text: string) => void said.push(text) };
  const code = await runCommandLine([...name.split(' '), ...words], output);
  return { code, stdout: printed.join('\n'), stderr: said.join('\n') };
}

export interface Desk {
  /** From now on these are the settings, and no others. */
  settle(settings: Readonly<Record<string, string>>): void;
  leave(): void;
}

/** This process as an operator's shell: with settings and a working folder, until it is left. */
export function sitDown(folder: string): Desk {
  const environment = process.env;
  const workingFolder = process.cwd();
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('STRONGROOM_'));
  process.chdir(folder);
  return {
    settle: (settings) => {
      process.env = { ...Object.fromEntries(others), ...settings };
    },
    leave: () => {
      process.chdir(workingFolder);
      process.env = environment;
    },
  };
}
