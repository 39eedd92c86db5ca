import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import type { Random } from './random.js';
import type { Tenant } from './world.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE64URL = `${BASE62}-_`;

/** Cursors and keys that nobody was given. */
export const forgeries: Part = {
  name: 'forgeries',
  about: 'bits flipped in real cursors and keys, other lengths, other alphabets, credentials that have ended',
  cases: { short: 500, long: 16_000 },
  width: 48,
  run: oneOf(forgeCursor, forgeCursor, strangeCursor, forgeKey, forgeKey, deadKey, forgeNonce),
};

/** A list by the name its cursors have in the world. */
function askList(one: Case, tenant: Tenant, list: string, cursor: string, extra = '') {
  if (list === 'search') {
    const body = JSON.stringify({ start: cursor, size: 2, ...(extra !== '' && { query: 'type:card' }) });
    return one.call(tenant.privateKey, 'POST', '/v2/tokens/search', body);
  }
  const [key, path] = list === 'logs' ? [tenant.manageKey, '/logs'] : [tenant.privateKey, '/v2/tokens'];
  return one.call(key, 'GET', `${path}?size=2&start=${encodeURIComponent(cursor)}${extra}`);
}

async function forgeCursor(one: Case): Promise<void> {
  const { random, world } = one;
  const list = random.pick(['logs', 'tokens', 'search']);
  const real = world.main.cursors[list] ?? '';
  const forged = altered(real, random, BASE64URL);
  const answer = await askList(one, world.main, list, forged);
  // Without a value the parameter counts as left out.
  if (forged === real || forged === '') return;
  one.check(answer.status === 400, `a forged cursor answers ${answer.status}`);
}

/** Real, but of another tenant, another list or under other filters. */
async function strangeCursor(one: Case): Promise<void> {
  const { random, world } = one;
  const list = random.pick(['logs', 'tokens', 'search']);
  const kind = random.below(3);
  const other = random.pick(['logs', 'tokens', 'search'].filter((name) => name !== list));
  const cursor = (kind === 0 ? world.victim.cursors[list] : world.main.cursors[kind === 1 ? other : list]) ?? '';
  const extra = kind === 2 ? (list === 'logs' ? '&entity_type=card' : '&type=card') : '';
  const answer = await askList(one, world.main, list, cursor, extra);
  one.check(answer.status === 400, `a cursor from elsewhere answers ${answer.status}`);
  one.check(JSON.parse(answer.body).code === 'invalid_cursor', 'it is refused for another reason');
}

async function forgeKey(one: Case): Promise<void> {
  const { random, world } = one;
  const { main, victim } = world;
  const real = random.pick([main.manageKey, main.privateKey, main.publicKey, victim.privateKey, victim.manageKey]);
  const forged = random.oneIn(4) ? madeUpKey(random) : altered(real, random, BASE62);
  if (forged === real) return;
  const target = random.pick(['/tenants/self', '/permissions', `/tokens/${victim.tokenId}`, '/logs', '/applications']);
  const answer = await one.call(forged, 'GET', target);
  one.check(answer.status === 401, `a forged key answers ${answer.status}`);
}

async function deadKey(one: Case): Promise<void> {
  const { random, world } = one;
  const { method, path } = random.pick(world.document.operations.filter(({ permission }) => permission !== undefined));
  const answer = await one.call(random.pick(world.deadKeys), method, path.replaceAll(/\{\w+\}/g, world.main.tokenId));
  one.check(answer.status === 401, `a key that has ended answers ${answer.status}`);
}

async function forgeNonce(one: Case): Promise<void> {
  const { random, world } = one;
  const nonce = random.text(random.oneIn(3) ? random.below(60) : 22, BASE62);
  const body = JSON.stringify({ nonce, permissions: ['token:read'] });
  const answer = await one.call(world.main.privateKey, 'POST', '/sessions/authorize', body);
  one.check(answer.status === (nonce.length === 22 ? 404 : 400), `a made-up nonce answers ${answer.status}`);
}

/** The right form with the right checksum, of a key that was never made. */
function madeUpKey(random: Random): string {
  const body = `key_${random.pick(['pub', 'pvt', 'mgt', 'ses', 'prx', 'adm'])}_${random.text(26, BASE62)}`;
  return body + checksumOf(body);
}

/** CRC-32 in base 62, as in keys that are real. */
function checksumOf(body: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(body)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = '';
  for (let place = 0; place < 6; place += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function altered(real: string, random: Random, alphabet: string): string {
  const at = random.below(real.length);
  switch (random.below(9)) {
    case 0: {
      const bytes = Buffer.from(real, 'latin1');
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(7));
      return visible(bytes);
    }
    case 1:
      return real.slice(0, at) + real.slice(at + 1);
    case 2:
      return real.slice(0, at) + random.pick([...alphabet]) + real.slice(at);
    case 3:
      return real.slice(0, at) + random.pick([...alphabet]) + real.slice(at + 1);
    case 4:
      return real.slice(0, at);
    case 5:
      return real.repeat(1 + random.below(20));
    case 6:
      return random.oneIn(2) ? real.toLowerCase() : real.toUpperCase();
    case 7:
      return random.text(1 + random.below(600), alphabet);
    default:
      return real + random.pick(['=', '==', '%00', '.', ',', ';', '"', real, '\u00e9']);
  }
}

/** A header value takes visible characters alone. */
function visible(bytes: Buffer): string {
  return Buffer.from(bytes.map((byte) => (byte < 0x21 || byte > 0x7e ? 0x7e : byte))).toString('latin1');
}
