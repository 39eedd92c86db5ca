import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { findProgram } from '@strongroom/test-servers/find.js';

/** What a terminal turns into SIGINT for every process in front. */
export const CTRL_C = '\u0003';

/**
 * Starts a program at a terminal of its own: what is written to its standard input is typed there. The exit code is the
 * program's: a shell that waited for it would take the signal too and say 130 (dash), so the shell becomes the program.
 */
export type AtTerminal = (line: string, options: { cwd: string; env: NodeJS.ProcessEnv }) => ChildProcess;

/** Runs the line as the leader of the terminal, and ends with its exit code. */
const PYTHON = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["/bin/sh", "-c", sys.argv[1]])))';

/** A way to a terminal on this machine: `script` of util-linux, else Python. Undefined where there is neither. */
export function findTerminal(): AtTerminal | undefined {
  const script = findProgram('script');
  // The `script` of other systems takes no command line.
  if (script !== undefined && spawnSync(script, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')) {
    return (line, options) => spawn(script, ['-qfec', `exec ${line}`, '/dev/null'], { ...options, stdio: 'pipe' });
  }
  const python = findProgram('python3');
  if (python === undefined) return undefined;
  return (line, options) => spawn(python, ['-c', PYTHON, `exec ${line}`], { ...options, stdio: 'pipe' });
}
