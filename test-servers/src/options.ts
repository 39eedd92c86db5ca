import type { ParseArgsConfig } from 'node:util';
import { parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/** The exit code of a command that was called wrongly. */
const USAGE = 64;

/** The options of a command. Prints `help` and ends the process when it is asked for, or when something is not known. */
export function readOptions<T extends Options>(options: T, help: string): Values<T> {
  if (process.argv.slice(2).includes('--help')) {
    process.stdout.write(help);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    endWith(error instanceof Error ? error.message : String(error), help);
  }
}

/** Says what is wrong with how the command was called, and ends the process. */
export function endWith(message: string, help = ''): never {
  process.stderr.write(`${message}\n${help}`);
  process.exit(USAGE);
}
