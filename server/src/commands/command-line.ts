import { parseArgs } from 'node:util';
import { asExit } from '../core.js';
import { AppError } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { isNameLost } from '../storage/faults.js';
import { describeError } from '../telemetry/describe-error.js';
import { VERSION } from '../version.js';
import { applicationCreate } from './application-create.js';
import { backup } from './backup.js';
import type { Command, Flags, Output } from './command.js';
import { parserOptions } from './command.js';
import { doctor } from './doctor.js';
import { exportKeyGenerate } from './export-key-generate.js';
import { helpOf, overview } from './help.js';
import { keyGenerate } from './key-generate.js';
import { keysRotate } from './keys-rotate.js';
import { keysRotateRoot } from './keys-rotate-root.js';
import { keysVerify } from './keys-verify.js';
import { logsExport } from './logs-export.js';
import { logsPurge } from './logs-purge.js';
import { migrateCommand } from './migrate.js';
import { restoreCommand } from './restore.js';
import { rootKeyGenerate } from './root-key-generate.js';
import { serve } from './serve.js';
import { tenantCreate } from './tenant-create.js';
import { tenantList } from './tenant-list.js';
import { tokensExport } from './tokens-export.js';
import { tokensImport } from './tokens-import.js';

/** Every command there is. */
export const COMMANDS: readonly Command[] = [
  serve,
  tenantCreate,
  tenantList,
  applicationCreate,
  keyGenerate,
  rootKeyGenerate,
  keysRotate,
  keysRotateRoot,
  keysVerify,
  tokensExport,
  tokensImport,
  exportKeyGenerate,
  logsExport,
  logsPurge,
  backup,
  restoreCommand,
  migrateCommand,
  doctor,
];

/** Runs one command and returns the exit code. Everything that goes wrong ends here, as a sentence and a code. */
export async function runCommandLine(words: readonly string[], output: Output): Promise<number> {
  const [first] = words;
  if (first === '--version' || first === '-v' || first === 'version') return show(output, VERSION);
  if (first === '--help' || first === '-h' || first === 'help') return show(output, overview(COMMANDS));
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
  if (!command) {
    const group = COMMANDS.filter(({ name }) => first !== undefined && name.startsWith(`${first} `));
    if (group.length > 0 && (words[1] === '--help' || words[1] === '-h')) return show(output, overview(group));
    return misused(output, group.length > 0 ? `choose one of these:\n\n${overview(group)}` : unknownCommand(words));
  }
  try {
    const given = parse(command, words.slice(command.name.split(' ').length));
    if (given.isSet('help')) return show(output, helpOf(command));
    const missing = Object.entries(command.flags).filter(
      ([name, flag]) => flag.isRequired && given.all(name).every((value) => value === ''),
    );
    if (missing.length > 0) throw new UsageError(`missing ${missing.map(([name]) => `--${name}`).join(', ')}`);
    return await command.run(given, output);
  } catch (error) {
    if (error instanceof UsageError) return misused(output, `${error.message}\n\n${helpOf(command)}`);
    // The API's message would not tell the operator which setting is wrong.
    return failed(output, isNameLost(error) ? asExit(error) : error);
  }
}

class UsageError extends Error {}

function parse(command: Command, args: string[]): Flags {
  try {
    const { values } = parseArgs({ args, options: parserOptions(command), strict: true, allowPositionals: false });
    const all = (name: string): string[] => [values[name] ?? []].flat().map(String);
    return { all, text: (name) => all(name)[0], isSet: (name) => values[name] === true };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the options are not valid');
  }
}

function unknownCommand(words: readonly string[]): string {
  const asked = words.join(' ').trim();
  return `${asked === '' ? 'no command given' : `unknown command: ${asked}`}\n\n${overview(COMMANDS)}`;
}

function show(output: Output, text: string): number {
  output.print(text);
  return EXIT.ok;
}

function misused(output: Output, text: string): number {
  output.say(`strongroom: ${text}`);
  return EXIT.usage;
}

function failed(output: Output, error: unknown): number {
  if (error instanceof ExitError) {
    output.say(`strongroom: ${error.message}`);
    return error.exitCode;
  }
  if (error instanceof AppError) {
    const fields = Object.entries(error.errors ?? {}).map(([path, messages]) => `\n  ${path}: ${messages.join('; ')}`);
    output.say(`strongroom: ${error.message}${fields.join('')}`);
    return error.status >= 500 ? EXIT.unavailable : EXIT.usage;
  }
  const { message, stack } = describeError(error);
  output.say(`strongroom: unexpected failure: ${message}\n${stack ?? ''}`);
  return EXIT.failure;
}
