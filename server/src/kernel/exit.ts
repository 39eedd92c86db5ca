/** Exit codes of the process, from sysexits where it has a fitting one. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 64,
  unavailable: 69,
  dataFolderInUse: 73,
  configuration: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the process with a code and a message for the operator, who is told what to do next. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
  }
}
