import type { RunInput, RunOrigin } from '../run.js';

/** A run as it goes to an engine. */
export interface PreparedRun {
  readonly body: Buffer;
  readonly origin: RunOrigin;
}

/** More than code may be given at once. */
export class InputTooLargeError extends Error {}

const MIB = 1024 * 1024;
/** Arguments of the specified size, and configuration as large as one can be. */
const INPUT_BYTES_MAX = 5 * MIB + 2 * MIB;

/** `clientNames`: the names the code finds its client under; none where it has none. */
export function prepareRun(input: RunInput, clientNames: readonly string[]): PreparedRun {
  const { args, configuration, requestId, attempt, keepsConsole, origin } = input;
  const body = Buffer.from(
    JSON.stringify({
      args: args ?? null,
      configuration,
      request_id: requestId,
      attempt,
      client_names: clientNames,
      keeps_console: keepsConsole,
    }),
  );
  if (body.length > INPUT_BYTES_MAX) throw new InputTooLargeError('the arguments are too large');
  return { body, origin };
}
