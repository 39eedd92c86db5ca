import type { Answer } from './answer.js';
import type { Connection } from './connection.js';
import { openConnection } from './connection.js';
import { faultOf } from './judge.js';
import type { Case, Part } from './part.js';
import { startProduct } from './product.js';
import { bytesOf, request } from './request.js';

const CONNECTIONS = 64;
const REQUESTS = 1_800;
/** Past the longest block. */
const RELIEF_MS = 15_000;

/** The one part that floods, with the limits as they ship, on a product of its own. */
export const flood: Part = {
  name: 'flood',
  about: 'more than the limits allow, on a product with limits: 429 and 503, and served again soon after',
  cases: { short: 1, long: 3 },
  width: 1,
  isBeside: true,
  async run(one) {
    const product = await startProduct({ STRONGROOM_REQUESTS_IN_FLIGHT_MAX: '10' });
    try {
      await floodOnce(one, product.port);
      one.check(product.ended() === undefined, 'the flooded product ended');
      for await (const line of product.logLines())
        one.check(!/"level":"fatal"/.test(line), `the flooded product logged ${line}`);
    } finally {
      await product.stop();
    }
  },
};

async function floodOnce(one: Case, port: number): Promise<void> {
  const seen = new Map<string, number>();
  const sent = request('key_mgt_made_up', 'GET', '/tenants/self');
  const probe = request(undefined, 'GET', '/healthz');
  const judge = (answer: Answer): void => {
    const word = answer.status < 300 ? 'served' : String(JSON.parse(answer.body).code);
    seen.set(word, (seen.get(word) ?? 0) + 1);
    const judged = { method: 'GET', target: '/', text: () => '' };
    const fault = faultOf(answer, judged, { foreign: [], foreignIds: [], mayOverload: true });
    one.check(fault === undefined, `in a flood: ${fault}`);
  };
  // Bodies that are promised and held back fill the places of one client; the rest are refused at once.
  const connections = Array.from({ length: CONNECTIONS }, () => openConnection(port));
  let left = REQUESTS;
  const pump = async (connection: Connection): Promise<void> => {
    while (left > 0) {
      left -= 1;
      judge(await connection.exchange(bytesOf(one.random.oneIn(4) ? probe : sent), false));
    }
  };
  await Promise.all(connections.map(pump));
  one.count(REQUESTS);
  one.check((seen.get('rate_limited') ?? 0) > 0, 'nothing was limited');
  one.check((seen.get('invalid_api_key') ?? 0) <= 1_000, 'more was let through than the limit allows');
  const deadlineMs = performance.now() + RELIEF_MS;
  for (;;) {
    const answer = await connections[0]?.exchange(bytesOf(probe), false);
    if (answer?.status === 200) break;
    one.check(performance.now() < deadlineMs, 'nobody is served after the flood');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  for (const connection of connections) connection.close();
}
