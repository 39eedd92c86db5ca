import { openConnection } from './connection.js';
import type { Product } from './product.js';
import { bytesOf, request } from './request.js';
import type { World } from './world.js';

const KEY = /key_(?:pub|pvt|mgt|ses)_[0-9A-Za-z]{32}/;
/** Lines of the two severest levels, in words as the product writes them and in pino's numbers. */
const SEVERE = /"level":(?:"error"|"fatal"|50|60)/;
const SHOWN_MAX = 10;

/** What must hold once everything is over. */
export async function finalFaults(product: Product, world: World): Promise<string[]> {
  const ended = product.ended();
  if (ended !== undefined) return [ended];
  return [...(await logFaults(product, world)), ...(await clientFaults(world))];
}

async function logFaults(product: Product, world: World): Promise<string[]> {
  const numbers = world.canaries.flatMap(({ cards }) => cards.map(({ number }) => number));
  const secrets: readonly (readonly [what: string, isThere: (line: string) => boolean])[] = [
    ["another tenant's value", (line) => line.includes(world.victim.mark) || line.includes(world.neighbour.mark)],
    ['token data', (line) => line.includes(world.secretMark)],
    ['a card number', (line) => numbers.some((number) => line.includes(number))],
    ['a key', (line) => KEY.test(line)],
  ];
  const faults: string[] = [];
  for await (const line of product.logLines()) {
    if (SEVERE.test(line)) faults.push(`the log has a severe line: ${line.slice(0, 2_000)}`);
    const [what] = secrets.find(([, isThere]) => isThere(line)) ?? [];
    if (what !== undefined) faults.push(`the log holds ${what}: ${line.slice(0, 300)}`);
    if (faults.length >= SHOWN_MAX) break;
  }
  return faults;
}

/** The product is ready, and an ordinary client is served at once. */
async function clientFaults(world: World): Promise<string[]> {
  const connection = openConnection(world.port);
  const faults: string[] = [];
  const { privateKey, tokenId } = world.victim;
  const made = JSON.stringify({ data: 'after all that' });
  const asked = [
    [request(undefined, 'GET', '/readyz'), 200],
    [request(privateKey, 'GET', `/tokens/${tokenId}`), 200],
    [request(privateKey, 'POST', '/tokens', made), 201],
    [request(world.main.manageKey, 'GET', '/tenants/self'), 200],
  ] as const;
  for (const [sent, status] of asked) {
    const answer = await connection.exchange(bytesOf(sent), false);
    if (answer.status !== status) faults.push(`at the end ${sent.method} ${sent.target} answers ${answer.status}`);
  }
  connection.close();
  return faults;
}
