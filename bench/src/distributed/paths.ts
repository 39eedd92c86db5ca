import { card, cards, wire } from '../requests.js';
import type { Tenants } from './arrangement.js';

export interface DistributedPath {
  readonly name: string;
  readonly connections: number;
  readonly requests: (tenants: Tenants) => readonly string[];
}

const CONNECTIONS = 64;
const TOKENIZE_CONNECTIONS = 8;
const BATCH = 100;
const SEARCH = JSON.stringify({ query: 'data:4242424242424242', size: 10 });
const SINGLE = JSON.stringify(card());
const MANY = cards(BATCH);

/** Those that only look come first, so that all of them find as many tokens. */
export const DISTRIBUTED_PATHS: readonly DistributedPath[] = [
  { name: 'read a card', connections: CONNECTIONS, requests: readsOf },
  { name: 'list a page', connections: CONNECTIONS, requests: ofEach((key) => wire('GET', '/v2/tokens?size=10', key)) },
  {
    name: 'search by index',
    connections: CONNECTIONS,
    requests: ofEach((key) => wire('POST', '/v2/tokens/search', key, SEARCH)),
  },
  { name: 'create a card', connections: CONNECTIONS, requests: ofEach((key) => wire('POST', '/tokens', key, SINGLE)) },
  {
    name: `tokenize ${BATCH}`,
    connections: TOKENIZE_CONNECTIONS,
    requests: ofEach((key) => wire('POST', '/tokenize', key, MANY)),
  },
];

function ofEach(request: (key: string) => string): DistributedPath['requests'] {
  return ({ keys }) => keys.map(request);
}

/** The tenants in turn. */
function readsOf({ keys, ids }: Tenants): string[] {
  const [first = []] = ids;
  return first.flatMap((_, place) =>
    keys.map((key, tenant) => wire('GET', `/tokens/${ids[tenant]?.[place] ?? ''}`, key)),
  );
}
