import { hasMoreValues, isTooDeep } from '../../kernel/json-guard.js';
import type { CodeOutcome, ConsoleLine, RunOutcome } from '../run.js';
import { decodeFrame, HEAD_LENGTH_BYTES, isHeadTooLarge } from './frame.js';

const LINES_MAX = 1_000;
const CONSOLE_CHARACTERS_MAX = 64 * 1024;
const ERRORS_MAX = 100;
const ERROR_CHARACTERS_MAX = 10_000;
const MESSAGE_MAX = 2_000;
/** Of what the code returned, as JSON. */
const VALUE_BYTES_MAX = 5 * 1024 * 1024;
/** Reading and writing more would keep everybody else waiting. */
const RETURNED_VALUES_MAX = 100_000;

interface Members {
  readonly [name: string]: unknown;
}

const TOO_DEEP: RunOutcome = {
  outcome: 'thrown',
  kind: undefined,
  errors: { error: ['The answer is nested too deep.'] },
  response: undefined,
  console: [],
};

/** Reads what came out of the engine; undefined for what no engine of ours sends. */
export function readOutcome(bytes: Buffer): RunOutcome | undefined {
  // Whatever writes the value again, or looks through it, goes as deep as the value.
  if (isTooDeep(bytes.subarray(HEAD_LENGTH_BYTES))) return TOO_DEEP;
  if (isHeadTooLarge(bytes)) return { outcome: 'too_large' };
  const frame = decodeFrame(bytes);
  if (!frame || !isObject(frame.head)) return undefined;
  const { head, body } = frame;
  const console = linesIn(head.console);
  switch (head.outcome) {
    case 'returned':
      return isTooLarge(body) ? { outcome: 'too_large' } : returned(body, console);
    case 'invalid':
      return { outcome: 'invalid', message: textOf(head.message, MESSAGE_MAX), console };
    case 'thrown': {
      const kind = typeof head.kind === 'string' ? head.kind.slice(0, MESSAGE_MAX) : undefined;
      return { outcome: 'thrown', kind, errors: errorsIn(head.errors), response: head.response, console };
    }
    default:
      return undefined;
  }
}

function isTooLarge(body: Buffer): boolean {
  return body.length > VALUE_BYTES_MAX || hasMoreValues(body, RETURNED_VALUES_MAX);
}

function returned(body: Buffer, console: readonly ConsoleLine[]): CodeOutcome | undefined {
  try {
    return { outcome: 'returned', value: JSON.parse(body.toString()), console };
  } catch {
    return undefined;
  }
}

function linesIn(value: unknown): ConsoleLine[] {
  if (!Array.isArray(value)) return [];
  const lines: ConsoleLine[] = [];
  let left = CONSOLE_CHARACTERS_MAX;
  for (const line of value.slice(0, LINES_MAX)) {
    if (!isObject(line) || left <= 0) continue;
    const text = textOf(line.text, left);
    left -= text.length;
    lines.push({ level: textOf(line.level, 10), text });
  }
  return lines;
}

function errorsIn(value: unknown): Readonly<Record<string, readonly string[]>> {
  if (!isObject(value)) return {};
  const entries = Object.entries(value).slice(0, ERRORS_MAX);
  return Object.fromEntries(
    entries.map(([name, messages]) => [
      name,
      (Array.isArray(messages) ? messages : [messages])
        .slice(0, ERRORS_MAX)
        .map((message) => textOf(message, ERROR_CHARACTERS_MAX)),
    ]),
  );
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown, charactersMax: number): string {
  return (typeof value === 'string' ? value : String(JSON.stringify(value) ?? '')).slice(0, charactersMax);
}
