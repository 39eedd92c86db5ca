import { ApiFault, faultOf } from './fault.js';
import type { Calls } from './generated.js';

export type CallName = keyof Calls;

type Part<Name extends string, Value> = [undefined] extends [Value]
  ? { readonly [key in Name]?: Value }
  : Record<string, never> extends Value
    ? { readonly [key in Name]?: Value }
    : { readonly [key in Name]: Value };

/** What a call needs beside its name. */
export type CallInput<Name extends CallName> = Part<'params', Calls[Name]['params']> &
  Part<'query', Calls[Name]['query']> &
  Part<'body', Calls[Name]['body']> & { readonly tenantId?: string; readonly signal?: AbortSignal };

/** Changes under way, and those that have just succeeded. */
const sent = new Map<string, Promise<unknown>>();
/** A second click before the page shows what the first one did is no second wish. */
const SAME_WISH_MS = 500;

/**
 * Sends a call of the documents. Throws ApiFault for everything but a success. The same change asked for twice at once is sent once;
 * what carries a signal is a read, whatever its method.
 */
export function call<Name extends CallName>(name: Name, input: CallInput<Name>): Promise<Calls[Name]['answer']> {
  if (name.startsWith('GET ') || input.signal) return send(name, input);
  const wish = JSON.stringify([name, input]);
  const known = sent.get(wish) as Promise<Calls[Name]['answer']> | undefined; // Kept under the name of its call.
  if (known) return known;
  const answer = send(name, input);
  sent.set(wish, answer);
  const forget = () => sent.delete(wish);
  answer.then(() => setTimeout(forget, SAME_WISH_MS), forget);
  return answer;
}

async function send<Name extends CallName>(name: Name, input: CallInput<Name>): Promise<Calls[Name]['answer']> {
  const [method = '', path = ''] = name.split(' ');
  const { params, query, body, tenantId, signal } = input as {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly body?: unknown;
    readonly tenantId?: string;
    readonly signal?: AbortSignal;
  };
  const response = await fetch(`${filled(path, params ?? {})}${queryText(query ?? {})}`, {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(tenantId !== undefined && { 'SVC-TENANT-ID': tenantId }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiFault(0, 'unreachable', 'The server cannot be reached. Check the connection and try again.');
  });
  if (!response.ok) throw await faultOf(response);
  if (response.status === 202 || response.status === 204) return undefined as Calls[Name]['answer'];
  return (await response.json()) as Calls[Name]['answer']; // The server writes what the document says.
}

function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

function queryText(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined && each !== '')
      .map((each): [string, string] => [name, String(each)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
