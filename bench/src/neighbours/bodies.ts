import { call, wire } from '../requests.js';
import type { NeighbourCase } from './case.js';
import { largeBodies } from './large-bodies.js';
import { readsOf } from './reads.js';

/** As often as the limit of creates lets one address: 200 in 10 seconds. */
const PER_SECOND = 20;
const CONNECTIONS = 16;

function besideBody(name: string): NeighbourCase {
  return {
    name: `reads beside ${PER_SECOND} a second of ${name}`,
    wanted: { least: 0.5 },
    async prepare({ product, neighbour, hostile: { key } }) {
      const { port } = product;
      const { id } = JSON.parse(await call(port, key, 'POST', '/tokens', JSON.stringify({ data: 'value' })));
      const found = largeBodies(id).find((each) => each.name === name);
      if (found === undefined) throw new Error(`assertion failed: there is no body named ${name}`);
      const requests = [wire(found.method, found.path, key, JSON.stringify(found.body))];
      return {
        neighbour: await readsOf(product, neighbour),
        hostile: { requests, connections: CONNECTIONS, perSecond: PER_SECOND },
      };
    },
  };
}

/** Reads of a tenant beside each of the heaviest bodies of another. */
export const LARGE_BODIES: readonly NeighbourCase[] = largeBodies('').map(({ name }) => besideBody(name));

const CHUNKED_CONNECTIONS = 50;
const CHUNKS = 12_000;

/** Uploads that are refused after a thousand chunks; each takes a connection of its own, which then ends. */
export const SMALL_CHUNKS: NeighbourCase = {
  name: `reads beside ${CHUNKED_CONNECTIONS} uploads a second in chunks of one byte`,
  wanted: { least: 0.5 },
  async prepare({ product, neighbour, hostile }) {
    const headers = 'Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n';
    const requests = [`${wire('POST', '/tokens', hostile.key, '', headers)}${'1\r\n \r\n'.repeat(CHUNKS)}0\r\n\r\n`];
    return {
      neighbour: await readsOf(product, neighbour),
      hostile: { requests, connections: CHUNKED_CONNECTIONS, perSecond: CHUNKED_CONNECTIONS },
    };
  },
};
