import { call, card, wire } from '../requests.js';
import type { NeighbourCase } from './case.js';

const FLOOD_CONNECTIONS = 16;
const FLOOD_PER_SECOND = 100;
const CONNECTIONS = 2;
const TAKEN = 'taken-by-an-earlier-token';

/** Each of these is refused, and shares its batch with the creates of the neighbour unless it is refused before. */
export const CREATES_WITH_A_TAKEN_ID: NeighbourCase = {
  name: `creates beside ${FLOOD_PER_SECOND} creates a second under a taken id`,
  wanted: { least: 0.6 },
  async prepare({ product: { port }, neighbour, hostile }) {
    const taken = JSON.stringify({ id: TAKEN, data: 'value' });
    await call(port, hostile.key, 'POST', '/tokens', taken);
    return {
      neighbour: {
        requests: [wire('POST', '/tokens', neighbour.key, JSON.stringify(card()))],
        connections: CONNECTIONS,
      },
      hostile: {
        requests: [wire('POST', '/tokens', hostile.key, taken)],
        connections: FLOOD_CONNECTIONS,
        perSecond: FLOOD_PER_SECOND,
      },
    };
  },
};
