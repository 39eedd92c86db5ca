import type { ParseArgsConfig } from 'node:util';

export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly about: string;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
}

export interface Output {
  /** For results, which another program may read. */
  readonly print: (text: string) => void;
  /** For people. */
  readonly say: (text: string) => void;
  /** For people at a terminal: a line that the next one takes the place of. Missing where nobody watches. */
  readonly rewrite?: (line: string) => void;
}

/** Values by flag name; a repeatable flag has all of its values. */
export interface Flags {
  text(name: string): string | undefined;
  all(name: string): readonly string[];
  isSet(name: string): boolean;
}

export interface Command {
  /** The words that call it, such as `tenant create`. */
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  readonly run: (flags: Flags, output: Output) => Promise<number>;
}

export function parserOptions(command: Command): NonNullable<ParseArgsConfig['options']> {
  const entries = Object.entries(command.flags).map(([name, { type, isRepeatable = false }]) => [
    name,
    { type, multiple: isRepeatable },
  ]);
  return { ...Object.fromEntries(entries), help: { type: 'boolean', short: 'h' } };
}
