import { isDeepStrictEqual } from 'node:util';
import type { Made } from './world.js';

export interface Expected {
  readonly status: number;
  /** Entries the request leaves in the log. */
  readonly entries: number;
  readonly isRight?: (body: Made) => boolean;
}

/** Sends one request of the neighbour and holds its answer against what it has to be. */
export type Call = (caller: string, method: string, target: string, body: unknown, expected: Expected) => Promise<Made>;

/** Whose tokens they are: the mark in all of them, the keys, and tokens that are there all the time. */
export interface Walker {
  readonly mark: string;
  readonly key: string;
  /** Sees masks alone. */
  readonly maskedKey: string;
  readonly standing: readonly { readonly id: string; readonly number: string }[];
}

const READ = { status: 200, entries: 1 };

/** One token from its making to its end, beside those that stand. */
export async function walk(call: Call, walker: Walker, at: number): Promise<void> {
  const { mark, key, maskedKey, standing } = walker;
  const id = `${mark}-round-${at}`;
  const value = `${mark} value ${at}`;
  const data = { value, at, list: [1, null, { deep: 'ünï' }] };
  const metadata = { round: String(at) };
  const mask = { last: '{{ data.value | slice: 0, 5 }}' };
  const token = { id, data, metadata, mask, search_indexes: ['{{ data.value }}'] };
  const made = await call(key, 'POST', '/tokens', token, {
    status: 201,
    entries: 1,
    isRight: (body) => holds(body, token),
  });
  const isMade = (body: Made): boolean => isDeepStrictEqual(body, made);
  const isListed = (body: Made): boolean => lists(body, made);
  await call(key, 'GET', `/tokens/${id}`, undefined, { ...READ, isRight: isMade });
  await call(key, 'GET', `/v2/tokens?id=${id}`, undefined, { ...READ, isRight: isListed });
  const query = { query: `data:"${value}" AND metadata.round:${at}` };
  // One entry for the search by value, and one for the token that it found.
  await call(key, 'POST', '/v2/tokens/search', query, { ...READ, entries: 2, isRight: isListed });
  await detokenize(call, walker, at, id, data);
  const isMasked = (body: Made): boolean => isDeepStrictEqual(body.data, { last: mark.slice(0, 5) });
  await call(maskedKey, 'GET', `/tokens/${id}`, undefined, { ...READ, isRight: isMasked });
  const isCounted = (body: Made): boolean => holds(Object(body.pagination), { total_items: standing.length });
  const listOfStanding = `/tokens?size=1&metadata.standing=${mark}`;
  await call(key, 'GET', listOfStanding, undefined, { ...READ, isRight: isCounted });
  const change = { metadata: { changed: 'yes' }, data: { at: at + 0.5 } };
  const changed = { id, metadata: { ...metadata, ...change.metadata }, data: { ...data, at: at + 0.5 } };
  await call(key, 'PATCH', `/tokens/${id}`, change, { ...READ, isRight: (body) => holds(body, changed) });
  const { id: standingId, number } = standingAt(walker, at);
  const isNumber = (body: Made): boolean => body.data === number;
  await call(key, 'GET', `/tokens/${standingId}`, undefined, { ...READ, isRight: isNumber });
  await call(key, 'DELETE', `/tokens/${id}`, undefined, { status: 204, entries: 1 });
  await call(key, 'GET', `/tokens/${id}`, undefined, { status: 404, entries: 0 });
}

async function detokenize(call: Call, walker: Walker, at: number, id: string, data: unknown): Promise<void> {
  const { id: standingId, number } = standingAt(walker, at);
  const asked = {
    whole: `{{ ${id} }}`,
    part: `${at}: {{ ${standingId} | reveal_last: 4 }}`,
    own: `{{ token: ${id} | json: "$.id" }}`,
  };
  const told = { whole: data, part: `${at}: ${'X'.repeat(12)}${number.slice(-4)}`, own: id };
  await call(walker.key, 'POST', '/detokenize', asked, {
    status: 200,
    entries: 2,
    isRight: (body) => isDeepStrictEqual(body, told),
  });
}

function standingAt({ standing }: Walker, at: number): Walker['standing'][number] {
  return standing[at % standing.length] ?? { number: '', id: '' };
}

function holds(body: Made, expected: Made): boolean {
  return Object.entries(expected).every(([name, each]) => isDeepStrictEqual(body[name], each));
}

function lists(body: Made, expected: Made): boolean {
  const [only, ...more] = Array.isArray(body.data) ? body.data : [];
  return more.length === 0 && only !== undefined && holds(only, expected);
}
