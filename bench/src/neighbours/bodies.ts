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
