import type { AuditContext } from '../../../audit/entry.js';
import type { EndSignal } from '../../../kernel/end-signal.js';
import { newId } from '../../../kernel/ids.js';
import type { Json } from '../../../kernel/json.js';
import { hasMoreValues, isTooDeep } from '../../../kernel/json-guard.js';
import { isJsonObject } from '../../../kernel/json-object.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import type { RunOutcome } from '../../../sandbox/run.js';
import type { RunCode } from '../../reactors/index.js';
import { failureOfRun, runtimeError } from '../../reactors/index.js';
import type { CurrentProxy } from '../definition/current-proxy.js';

export interface TransformOptions {
  readonly runCode: RunCode;
  readonly headerPrefixes: readonly string[];
}

/** Code of a Proxy, and in whose name it runs. */
export interface TransformCode {
  readonly proxy: CurrentProxy;
  readonly which: 'request' | 'response';
  readonly code: string;
  readonly auditContext: AuditContext;
  readonly signal: EndSignal;
}

/** What code makes of a message. */
export interface Transformed {
  readonly headers: HeaderPairs;
  readonly body: Buffer;
}

const DEADLINE_MS = 30_000;
/** Many small values take far longer than their length says. */
export const MESSAGE_VALUES_MAX = 100_000;

/** Runs code on a message. What it does not return stays as it was; what it throws is the answer of the call. */
export async function transform(
  { runCode, headerPrefixes }: TransformOptions,
  { proxy, which, code, auditContext, signal }: TransformCode,
  args: Readonly<Record<string, Json>>,
  before: Transformed,
): Promise<Transformed> {
  const { tenantId, proxyId, version, definition } = proxy;
  const applicationId = definition.applicationId ?? undefined;
  const { outcome } = await runCode.run(
    { tenantId, ownerId: `${proxyId} ${which}`, version: `${version} ${applicationId ?? ''}`, code, applicationId },
    async () => ({
      args,
      configuration: definition.configuration,
      ...{ requestId: newId(), attempt: 1, keepsConsole: false, origin: auditContext },
    }),
    { deadlineMs: DEADLINE_MS, signal },
  );
  return messageOf(outcome, before, headerPrefixes);
}

function messageOf(outcome: RunOutcome, before: Transformed, prefixes: readonly string[]): Transformed {
  if (outcome.outcome !== 'returned') throw failureOfRun(outcome, DEADLINE_MS, prefixes);
  const value = (outcome.value ?? {}) as Json; // It came out of a parser.
  if (!isJsonObject(value)) throw runtimeError('The function must return an object with body, headers or both.');
  const { body, headers } = value;
  return {
    body: body === undefined ? before.body : bytesOf(body),
    headers: headers === undefined ? before.headers : pairsOf(headers),
  };
}

function bytesOf(body: Json): Buffer {
  if (body === null) return Buffer.alloc(0);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function pairsOf(headers: Json): HeaderPairs {
  if (!isJsonObject(headers)) throw runtimeError('The headers must be an object of names and values.');
  // Of several spellings the last one counts: code that adds to what came must not send it twice.
  const bySpelling = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), { name, value }]));
  return [...bySpelling.values()].flatMap(({ name, value }) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => {
      if (typeof each !== 'string' && typeof each !== 'number') throw runtimeError('Values of headers must be text.');
      return [name, Buffer.from(String(each)).toString('latin1')];
    }),
  );
}

/** Headers as code sees them: names in lower case, those that came twice joined. */
export function headersForCode(headers: HeaderPairs): Record<string, string> {
  const seen = new Map<string, string>();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    const text = Buffer.from(value, 'latin1').toString('utf8');
    seen.set(lower, seen.has(lower) ? `${seen.get(lower)}, ${text}` : text);
  }
  return Object.fromEntries(seen);
}

/** A body as code sees it: the value where it is JSON, else its text. */
export function bodyForCode(body: Buffer, isJson: boolean): Json {
  const text = body.toString('utf8');
  // What is too deep or has too many values to be handed on as such is text too.
  if (!isJson || text === '' || isTooDeep(body) || hasMoreValues(body, MESSAGE_VALUES_MAX)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
