import { parseDate } from '../../kernel/dates.js';
import type { Scanner } from './scanner.js';

/** From one millisecond, up to but without another; undefined is open. */
export interface Span {
  readonly fromMs: number | undefined;
  readonly beforeMs: number | undefined;
}

const DAY_MS = 86_400_000;
const ENDS_BOUND = /[\s()[\]{}"]/;

/** A range, or the span that one date or date-time stands for; `endsAlone` is what ends a date outside a range. */
export function readSpan(scanner: Scanner, endsAlone: RegExp): Span {
  const isFromIncluded = scanner.takes('[');
  if (!isFromIncluded && !scanner.takes('{')) return readDate(scanner, endsAlone);
  scanner.skipSpace();
  const from = readBound(scanner);
  scanner.skipSpace();
  if (!/^TO\s/.test(scanner.peek(3)) || !scanner.takes('TO')) scanner.fail('TO');
  scanner.skipSpace();
  const to = readBound(scanner);
  scanner.skipSpace();
  const isToIncluded = scanner.takes(']');
  if (!isToIncluded && !scanner.takes('}')) scanner.fail('"]" or "}"');
  return {
    fromMs: isFromIncluded ? from.fromMs : from.beforeMs,
    beforeMs: isToIncluded ? to.beforeMs : to.fromMs,
  };
}

function readBound(scanner: Scanner): Span {
  return scanner.takes('*') ? { fromMs: undefined, beforeMs: undefined } : readDate(scanner, ENDS_BOUND);
}

/** A date alone is its whole day in UTC, also as a bound; a date-time is its millisecond. */
function readDate(scanner: Scanner, end: RegExp): Span {
  const from = scanner.at;
  const value = scanner.readValue(end);
  const fromMs = parseDate(value) ?? scanner.fail('a complete ISO 8601 date or date-time', from);
  return { fromMs, beforeMs: fromMs + (/t/i.test(value) ? 1 : DAY_MS) };
}
