/** What code threw, as data for the host. Tenant code can forge all of it, and says no more than it could by throwing. */
const KIND = Symbol.for('strongroom.error');
const MISSING = Symbol.for('strongroom.missing-module');
const TEXT_MAX = 10_000;
/** The server shows no more names, and no more messages under each. */
const ERRORS_MAX = 100;
const { stringify } = JSON;

export interface Thrown {
  readonly outcome: 'thrown' | 'invalid';
  readonly kind?: unknown;
  readonly message?: string;
  readonly errors?: Readonly<Record<string, unknown>>;
  readonly response?: unknown;
}

export function describeThrown(error: unknown): Thrown {
  const found = error as
    | { [KIND]?: unknown; [MISSING]?: unknown; data?: unknown; response?: unknown }
    | null
    | undefined;
  if (found?.[MISSING]) return { outcome: 'invalid', message: textOf(error) };
  const kind = found?.[KIND];
  if (kind === undefined) return { outcome: 'thrown', errors: errorsOf(error) };
  if (kind === 'CustomHttpResponseError') return { outcome: 'thrown', kind, response: found?.response };
  return { outcome: 'thrown', kind, errors: found?.data === undefined ? {} : errorsOf(found.data) };
}

/** A text or an error is one message, a list is the messages, each member of an object a list of its own. */
function errorsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (Array.isArray(value)) return { error: value.slice(0, ERRORS_MAX).map(partOf) };
  if (typeof value !== 'object' || value === null || value instanceof Error) return { error: [textOf(value)] };
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ERRORS_MAX)
      .map(([name, member]) => [name, (Array.isArray(member) ? member.slice(0, ERRORS_MAX) : [member]).map(partOf)]),
  );
}

const partOf = (part: unknown): string =>
  typeof part === 'object' && part !== null && !(part instanceof Error) ? limited(stringify(part)) : textOf(part);

function textOf(value: unknown): string {
  return limited(value instanceof Error ? value.message : String(value));
}

const limited = (text: unknown): string => String(text).slice(0, TEXT_MAX);
