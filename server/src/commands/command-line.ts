import { parseArgs } from 'node:util';
import { AppError } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { isNameLost } from '../storage/faults.js';
import { describeError } from '../telemetry/describe-error.js';
import { VERSION } from '../version.js';
import { COMMANDS, loadCommands } from './catalogue.js';
import type { Command, Flags, Output } from './command.js';
import { parserOptions } from './command.js';
import { helpOf, overview } from './help.js';

/** Runs one command and returns the exit code. Everything that goes wrong ends here, as a sentence and a code. */
export async function runCommandLine(words: readonly string[], output: Output): Promise<number> {
  const [first] = words;
  if (first === '--version' || first === '-v' || first === 'version') return show(output, VERSION);
  if (first === '--help' || first === '-h' || first === 'help') return show(output, overview(await loadCommands()));
  const name = Object.keys(COMMANDS).find((each) => each.split(' ').every((word, index) => words[index] === word));
  const command = name === undefined ? undefined : await COMMANDS[name]?.();
  if (!command) {
    const group = first === undefined ? [] : await loadCommands(first);
    if (group.length > 0 && (words[1] === '--help' || words[1] === '-h')) return show(output, overview(group));
    return misused(
      output,
      group.length > 0 ? `choose one of these:\n\n${overview(group)}` : await unknownCommand(words),
    );
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
    return failed(output, isNameLost(error) ? (await import('../core.js')).asExit(error) : error);
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

async function unknownCommand(words: readonly string[]): Promise<string> {
  const asked = words.join(' ').trim();
  return `${asked === '' ? 'no command given' : `unknown command: ${asked}`}\n\n${overview(await loadCommands())}`;
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
