import { isDeepStrictEqual } from 'node:util';
import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import type { Random } from './random.js';

/** Text that is right and looks wrong. */
const PIECES: readonly string[] = [
  '\u202eright to left\u202c',
  '\u2067isolated\u2069',
  '\u200e\u200f',
  'e\u0301',
  '\u00e9',
  '\u1e9b\u0323',
  '\ufb01\u2126\u212b',
  `Z${'\u0351\u0308\u0489'.repeat(20)}`,
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}',
  '\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}',
  '\u{10ffff}\u{1fffe}',
  '\ufeff\ufffe\uffff\ufffd',
  '\u200b\u200c\u200d\u2060\u00ad',
  '\u2028\u2029\u0085',
  '\u00a0\u3000\u2003',
  '\u0001\u0007\u001b[31m\u007f\u0080',
  '\t\r\n\r\n',
  "'; DROP TABLE tokens; --",
  "' OR '1'='1",
  '$1 $2 :name ?',
  '\\x00\\u0000\\',
  '%s%n%d %00 %2e%2e',
  '<script>alert(1)</script>&amp;<!--',
  '"]}\'>',
  '{"data":1,"__proto__":{}}',
  '$..data[?(@.x==1)]',
  '{1,2,NULL,"\\"}',
  '(a,"b")',
  'C:\\temp\\..\\',
  '../../../etc/passwd',
  '=cmd|calc!A1',
  '\u0130\u0131\u017f\u212a',
  '\u1100\u1161\u11a8\uac01',
  '\u0e01\u0e33',
  'NaN',
  '-0',
  '1e999',
  'null',
  '  spaces around  ',
];
/** These mean something in a mask or an index, so they go where text is only text. */
const TEMPLATES: readonly string[] = [
  '{{ data }}',
  '{% raw %}',
  '{{',
  '}}',
  '{%',
  "{{ 'x' | upcase }}",
  '{{ token: a }}',
];
const NAME_LENGTH_MAX = 200;
const VALUE_LENGTH_MAX = 2_000;

/** What is accepted comes back exactly as it was sent, code unit by code unit. */
export const text: Part = {
  name: 'text',
  about: 'nasty but valid text, which comes back exactly as it was sent',
  cases: { short: 300, long: 14_000 },
  width: 32,
  run: oneOf(storeToken, storeToken, storeToken, renameTenant, makeApplication, tokenize, search),
};

function nasty(random: Random, lengthMax: number, withTemplates = false): string {
  const pieces = withTemplates ? [...PIECES, ...TEMPLATES] : PIECES;
  let made = '';
  for (let left = 1 + random.below(6); left > 0; left -= 1) made += random.pick(pieces);
  if (random.oneIn(20)) made = made.repeat(50);
  return [...made].slice(0, lengthMax).join('');
}

async function storeToken(one: Case): Promise<void> {
  const { random, world } = one;
  const data = {
    [nasty(random, 50, true)]: nasty(random, 20_000, true),
    list: [nasty(random, 500, true), null, -1, 0.1, 1.5e-7, { __proto__: null, constructor: nasty(random, 50, true) }],
    own: world.secretMark,
  };
  const token = {
    data,
    mask: { kept: nasty(random, 500) },
    metadata: { [nasty(random, NAME_LENGTH_MAX)]: nasty(random, VALUE_LENGTH_MAX, true) },
    encryption: { note: nasty(random, 500, true) },
    ...(random.oneIn(3) && { id: nastyId(random) }),
  };
  const body = JSON.stringify(token);
  const made = await one.call(world.main.privateKey, 'POST', '/tokens', body);
  if (made.status !== 201) return;
  const { id } = JSON.parse(made.body);
  const read = await one.call(world.main.privateKey, 'GET', `/tokens/${encodeURIComponent(id)}`);
  one.check(read.status === 200, `the token just made answers ${read.status}`);
  const [given, got] = [JSON.parse(body), JSON.parse(read.body)];
  for (const name of Object.keys(given)) {
    one.check(isDeepStrictEqual(given[name], got[name]), `${name} did not come back as it was sent`);
  }
  const patched = nasty(random, VALUE_LENGTH_MAX, true);
  const change = JSON.stringify({ data: { list: [patched] } });
  const after = await one.call(world.main.privateKey, 'PATCH', `/tokens/${encodeURIComponent(id)}`, change);
  if (after.status !== 200) return;
  const expected = { ...given.data, list: [patched] };
  one.check(isDeepStrictEqual(JSON.parse(after.body).data, expected), 'the change did not come back as it was sent');
}

/** Only characters an id may have, and still odd ones. */
function nastyId(random: Random): string {
  const id = nasty(random, 300).replaceAll(/[#/\\+?[\]|&=%<>{}^]/g, '');
  return `${id}-${random.text(12, '0123456789abcdef')}`;
}

async function renameTenant(one: Case): Promise<void> {
  const name = nasty(one.random, NAME_LENGTH_MAX, true);
  const key = one.world.side.manageKey;
  const changed = await one.call(key, 'PUT', '/tenants/self', JSON.stringify({ name }));
  if (changed.status === 200) one.check(JSON.parse(changed.body).name === name, 'the name did not come back');
}

async function makeApplication(one: Case): Promise<void> {
  const { random, world } = one;
  const name = nasty(random, NAME_LENGTH_MAX, true);
  const description = nasty(random, NAME_LENGTH_MAX, true);
  const rules = [{ description, priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }];
  const body = JSON.stringify({ name, type: 'private', rules });
  const made = await one.call(world.side.manageKey, 'POST', '/applications', body);
  if (made.status !== 201) return;
  const { id } = JSON.parse(made.body);
  const read = JSON.parse((await one.call(world.side.manageKey, 'GET', `/applications/${id}`)).body);
  one.check(read.name === name, 'the name did not come back');
  one.check(read.rules[0].description === description, 'the description did not come back');
  const gone = await one.call(world.side.manageKey, 'DELETE', `/applications/${id}`);
  one.check(gone.status === 204, `deleting it answers ${gone.status}`);
}

async function tokenize(one: Case): Promise<void> {
  const { random, world } = one;
  const value = nasty(random, 5_000, true);
  const made = await one.call(world.main.privateKey, 'POST', '/tokenize', JSON.stringify({ a: [value] }));
  if (made.status !== 200) return;
  const [id] = JSON.parse(made.body).a;
  const body = JSON.stringify({ b: `{{ ${id} }}` });
  const opened = await one.call(world.main.privateKey, 'POST', '/detokenize', body);
  one.check(opened.status === 200, `detokenize answers ${opened.status}`);
  one.check(JSON.parse(opened.body).b === value, 'the value did not come back');
}

async function search(one: Case): Promise<void> {
  const { random, world } = one;
  const value = nasty(random, 300);
  const body = JSON.stringify({ data: { value }, search_indexes: ['{{ data.value }}'], metadata: { k: value } });
  const made = await one.call(world.main.privateKey, 'POST', '/tokens', body);
  if (made.status !== 201) return;
  const { id } = JSON.parse(made.body);
  const quoted = value.replaceAll(/["\\]/g, (one) => `\\${one}`);
  const query = JSON.stringify({ query: `data:"${quoted}"`, size: 100 });
  const found = await one.call(world.main.privateKey, 'POST', '/v2/tokens/search', query);
  if (found.status !== 200) return;
  const ids: string[] = JSON.parse(found.body).data.map((token: { id: string }) => token.id);
  one.check(ids.length === 100 || ids.includes(id), 'what was indexed is not found by its own value');
}
