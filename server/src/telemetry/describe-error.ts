/** Anything shaped like one of our credentials or the root key. */
const CREDENTIAL = /(key_[a-z]{3}_|rk1_)[0-9A-Za-z_-]{8,}/g;
const CAUSES_MAX = 4;

export interface ErrorStory {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorStory;
}

/**
 * An error as the process log may show it. A database error is reduced to its code: its sentence and its detail quote
 * values, and a value can be somebody's secret.
 */
export function describeError(error: unknown, depth = 0): ErrorStory {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  const { code, severity } = error as { code?: unknown; severity?: unknown }; // Read as unknown, checked below.
  const isDatabaseAnswer = typeof severity === 'string' && typeof code === 'string';
  return {
    type: error.name,
    message: isDatabaseAnswer ? `PostgreSQL answered ${severity} ${code}` : scrub(error.message),
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && { stack: framesOf(error) }),
    ...(error.cause !== undefined && depth < CAUSES_MAX && { cause: describeError(error.cause, depth + 1) }),
  };
}

export function scrub(text: string): string {
  return text.replace(CREDENTIAL, '$1[redacted]');
}

/** The frames alone: what stands before them repeats the message, and a message may look like a frame. */
function framesOf(error: Error): string {
  const stack = error.stack ?? '';
  const at = stack.indexOf(error.message);
  const frames = at === -1 ? '' : stack.slice(at + error.message.length);
  return scrub(
    frames
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .join('\n'),
  );
}
