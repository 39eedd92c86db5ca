import type { Command, Flag } from './command.js';

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'Usage: strongroom <command> [options]',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'strongroom <command> --help explains one command. Settings come from STRONGROOM_* variables:',
    'docs/configuration.md lists them all. In a checkout the program is server/bin/strongroom.',
  ].join('\n');
}

export function helpOf(command: Command): string {
  const flags = Object.entries(command.flags).map(([name, flag]) => ({ form: formOf(name, flag), flag }));
  const width = Math.max(6, ...flags.map(({ form }) => form.length));
  return [
    `Usage: strongroom ${command.name}${flags.length > 0 ? ' [options]' : ''}`,
    '',
    command.summary,
    '',
    'Options:',
    ...flags.map(({ form, flag }) => `  ${form.padEnd(width)}  ${flag.about}${notesOf(flag)}`),
    `  ${'--help'.padEnd(width)}  Show this`,
  ].join('\n');
}

function formOf(name: string, { type, placeholder = 'value' }: Flag): string {
  return type === 'boolean' ? `--${name}` : `--${name} <${placeholder}>`;
}

function notesOf({ isRequired, isRepeatable }: Flag): string {
  const notes = [isRequired && 'required', isRepeatable && 'may be repeated'].filter(Boolean);
  return notes.length > 0 ? ` (${notes.join(', ')})` : '';
}
