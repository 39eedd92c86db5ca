import { call, wire } from '../requests.js';
import type { NeighbourCase, Stream } from './case.js';
import { readsOf } from './reads.js';

const PER_SECOND = 20;
const CONNECTIONS = 16;

/** As many members as a body of token data may have, in 1 MiB. */
function members(count: number, bytes: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'x'.repeat(bytes)]));
}

/** What a tenant sends as often as the limit of creates lets one address: 200 in 10 seconds. */
function bodiesOf(
  name: string,
  make: (tokenId: string) => readonly [method: string, path: string, body: unknown],
): NeighbourCase {
  return {
    name: `reads beside ${PER_SECOND} a second of ${name}`,
    wanted: { least: 0.5 },
    async prepare({ product, neighbour, hostile }) {
      const made = await call(product.port, hostile.key, 'POST', '/tokens', JSON.stringify({ data: 'value' }));
      const { id } = JSON.parse(made);
      const [method, path, body] = make(id);
      const requests = [wire(method, path, hostile.key, JSON.stringify(body))];
      const flood: Stream = { requests, connections: CONNECTIONS, perSecond: PER_SECOND };
      return { neighbour: await readsOf(product, neighbour), hostile: flood };
    },
  };
}

const MASK = Object.fromEntries(
  Array.from({ length: 2_000 }, (_, at) => [`m${at}`, `{{ data.a | append: "${at}" | upcase }}`]),
);

/** The heaviest bodies that are allowed. */
export const LARGE_BODIES: readonly NeighbourCase[] = [
  bodiesOf('creates of 10,000 values in 1 MiB', () => ['POST', '/tokens', { data: members(9_900, 88) }]),
  bodiesOf('creates with a mask of 2,000 expressions', () => ['POST', '/tokens', { data: { a: 'x' }, mask: MASK }]),
  bodiesOf('changes of 10,000 values in 1 MiB', (id) => ['PATCH', `/tokens/${id}`, { data: members(9_900, 80) }]),
  bodiesOf('searches with 10,000 other values', () => [
    'POST',
    '/tokens/search',
    { query: 'metadata.a:b', other: Array(9_900).fill(1) },
  ]),
  bodiesOf('tokenize of 100 tokens in 1 MiB', () => [
    'POST',
    '/tokenize',
    Array.from({ length: 100 }, () => ({ type: 'token', data: members(90, 90) })),
  ]),
  bodiesOf('detokenize of 70,000 members in 1 MiB', () => ['POST', '/detokenize', members(70_000, 0)]),
  bodiesOf('detokenize of 4,000 expressions', (id) => [
    'POST',
    '/detokenize',
    Array.from({ length: 4_000 }, () => `{{ ${id} | append: "a" }}`),
  ]),
];

const CHUNKED_CONNECTIONS = 50;
const CHUNKS = 12_000;

/** Uploads that are refused after a thousand chunks; each takes a connection of its own, which then ends. */
export const SMALL_CHUNKS: NeighbourCase = {
  name: `reads beside ${CHUNKED_CONNECTIONS} uploads a second in chunks of one byte`,
  wanted: { least: 0.5 },
  async prepare({ product, neighbour, hostile }) {
    const head = wire(
      'POST',
      '/tokens',
      hostile.key,
      '',
      'Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n',
    );
    const flood = { connections: CHUNKED_CONNECTIONS, perSecond: CHUNKED_CONNECTIONS };
    const requests = [`${head}${'1\r\n \r\n'.repeat(CHUNKS)}0\r\n\r\n`];
    return { neighbour: await readsOf(product, neighbour), hostile: { requests, ...flood } };
  },
};
