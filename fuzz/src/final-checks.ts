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
  const lines = (await product.logText()).split('\n');
  const faults: string[] = [];
  const severe = lines.filter((line) => SEVERE.test(line));
  faults.push(...severe.slice(0, SHOWN_MAX).map((line) => `the log has a severe line: ${line.slice(0, 2_000)}`));
  for (const [what, isThere] of [
    ["another tenant's value", (line: string) => line.includes(world.victim.mark)],
    ['token data', (line: string) => line.includes(world.secretMark)],
    ['a key', (line: string) => KEY.test(line)],
  ] as const) {
    const found = lines.find(isThere);
    if (found !== undefined) faults.push(`the log holds ${what}: ${found.slice(0, 300)}`);
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
