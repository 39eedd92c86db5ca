import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { AppError } from '../../kernel/errors.js';
import { CALLER } from '../../testing/route-server.js';
import type { StreamRequest, StreamRoute } from './stream-route.js';
import { defineStream } from './stream-route.js';

export const PIECE = Buffer.alloc(65_536, 'x');
export const LARGE = 100 * 1_048_576;
/** What the system and both ends may have under way of one direction. Far less than what is sent. */
export const UNDER_WAY_MAX = 24 * 1_048_576;

/** What the handlers saw, for one test. */
export interface Seen {
  produced: number;
  consumed: number;
  isSourceEnded: boolean;
  isAborted: boolean;
  failure: unknown;
  asked: StreamRequest | undefined;
}

export const NOTHING_SEEN: Seen = {
  produced: 0,
  consumed: 0,
  isSourceEnded: false,
  isAborted: false,
  failure: undefined,
  asked: undefined,
};

export const base = {
  permission: 'public',
  admits: 'anyone',
  limits: [],
  bodyBytesMax: LARGE,
  durationMsMax: 60_000,
} as const;
export const keyed = { ...base, permission: 'any key', admits: ['application', 'session'] } as const;

/** Says nothing, and does not look whether anybody still listens. */
async function* mute(): AsyncGenerator<Buffer> {
  await new Promise(() => {});
  yield Buffer.alloc(0);
}

/** A source that says one thing and then waits until nobody is there any more. */
export async function* silent({ signal }: StreamRequest, seen: Seen) {
  yield Buffer.from('first');
  await new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
  seen.isAborted = true;
}

/** Takes the key `good`. */
export function authenticate(key: string | undefined) {
  if (key === undefined) throw new AppError('missing_api_key', 'The API key is missing.');
  if (key !== 'good') throw new AppError('invalid_api_key', 'The API key is not valid.');
  return CALLER;
}

export async function answerOf(sent: ClientRequest): Promise<IncomingMessage> {
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  assert.ok(answer);
  return answer;
}

/** Routes of every kind of flow, that note what they see. */
export function streamRoutes(seen: Seen): StreamRoute[] {
  return [...wholeRoutes(seen), ...endingRoutes(seen), ...keyedRoutes()];
}

/** Bodies that go in or out whole. */
function wholeRoutes(seen: Seen): StreamRoute[] {
  return [
    defineStream({
      ...base,
      methods: ['POST'],
      path: '/echo',
      handle: ({ body }) => ({ status: 200, headers: [], body: counted(seen, body) }),
    }),
    defineStream({
      ...base,
      methods: ['POST'],
      path: '/sink',
      bodyBytesMax: 1_000_000,
      handle: async (request) => {
        request.signal.addEventListener('abort', () => {
          seen.isAborted = true;
        });
        try {
          for await (const piece of request.body) seen.consumed += piece.length;
        } catch (error) {
          seen.failure = error;
          throw error;
        }
        return { status: 202, headers: ['Content-Length', '0'] };
      },
    }),
    defineStream({
      ...base,
      methods: ['GET'],
      path: '/source',
      handle: () => ({ status: 200, headers: [], body: source(seen, LARGE) }),
    }),
    defineStream({
      ...base,
      methods: ['GET', 'POST', 'DELETE'],
      path: '/any/*',
      handle: (request) => {
        seen.asked = request;
        const headers = [
          'X-Own',
          'kept',
          'Set-Cookie',
          'a=b',
          'Connection',
          'upgrade',
          'Access-Control-Allow-Origin',
          'x',
        ];
        return { status: 207, headers: [...headers, 'Content-Type', 'text/plain'], body: source(seen, PIECE.length) };
      },
    }),
  ];
}

/** Those that fail, take too long, or end before the other side does. */
function endingRoutes(seen: Seen): StreamRoute[] {
  return [
    defineStream({
      ...base,
      methods: ['GET'],
      path: '/fails/:when',
      handle: ({ params }) => {
        if (params.when === 'before') throw new AppError('not_found', 'There is nothing to send.');
        return { status: 200, headers: [], body: failing(params.when === 'first' ? 0 : 3) };
      },
    }),
    defineStream({
      ...base,
      methods: ['GET'],
      path: '/silent',
      handle: (request) => ({ status: 200, headers: [], body: silent(request, seen) }),
    }),
    defineStream({
      ...base,
      methods: ['GET'],
      path: '/slow',
      durationMsMax: 50,
      handle: () => new Promise(() => {}),
    }),
    defineStream({
      ...base,
      methods: ['GET'],
      path: '/mute-body',
      durationMsMax: 100,
      handle: () => ({ status: 200, headers: [], body: mute() }),
    }),
    defineStream({
      ...base,
      methods: ['GET'],
      path: '/slow-body',
      durationMsMax: 50,
      handle: (request) => ({ status: 200, headers: [], body: silent(request, seen) }),
    }),
    defineStream({
      ...base,
      methods: ['GET'],
      path: '/tail',
      handle: (request) => ({ status: 200, headers: [], body: tail(request) }),
    }),
    defineStream({ ...base, methods: ['POST'], path: '/early', handle: () => ({ status: 403, headers: [] }) }),
  ];
}

function keyedRoutes(): StreamRoute[] {
  return [
    defineStream({
      ...keyed,
      methods: ['GET'],
      path: '/keyed',
      handle: ({ principal }) => ({ status: 200, headers: ['X-Tenant', principal.tenantId] }),
    }),
    defineStream({
      ...keyed,
      isKeyOptional: true,
      methods: ['GET'],
      path: '/optional',
      handle: ({ principal }) => ({ status: 200, headers: ['X-Tenant', principal?.tenantId ?? 'none'] }),
    }),
    defineStream({
      ...keyed,
      permission: 'token:use',
      methods: ['POST'],
      path: '/denied',
      handle: () => ({ status: 200, headers: [] }),
    }),
  ];
}

async function* source(seen: Seen, bytes: number) {
  try {
    for (let left = bytes; left > 0; left -= PIECE.length) {
      seen.produced += PIECE.length;
      yield PIECE;
    }
  } finally {
    seen.isSourceEnded = true;
  }
}

async function* counted(seen: Seen, body: AsyncIterable<Buffer>) {
  for await (const piece of body) {
    seen.consumed += piece.length;
    yield piece;
  }
}

async function* failing(pieces: number) {
  for (let count = 0; count < pieces; count += 1) yield PIECE;
  throw new Error('the source broke');
}

async function* tail({ stopping }: StreamRequest<undefined>) {
  yield Buffer.from('begun');
  await new Promise((resolve) => stopping.addEventListener('abort', resolve));
  yield Buffer.from('stopped');
}
