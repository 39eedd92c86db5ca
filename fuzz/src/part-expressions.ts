import type { Subject } from './liquid-text.js';
import { expressionOn } from './liquid-text.js';
import { mutated, nastyPiece } from './mutations.js';
import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import type { Random } from './random.js';
import type { Sent } from './request.js';
import { request } from './request.js';

/** Sent one behind the other. */
const BATCH = 8;

/** Text inside expressions, wherever one is taken: wrong by a character, too deep, too much, about names of the platform. */
export const expressions: Part = {
  name: 'expressions',
  about: 'expressions by our own grammar with mutations: masks, ids, indexes, fingerprints, detokenize',
  cases: { short: 200, long: 36_000 },
  width: 16,
  run: oneOf(makeTokens, makeTokens, detokenize, detokenize, detokenize, tokenize, change),
};

const DATA: Subject = {
  heads: ['data', 'data.number', 'data.list', 'data.list[1]', 'data["number"]', 'metadata.k', '"x"', '1', '(1..3)'],
  bind: '{% assign x = data.number %}',
};

function onData(random: Random): string {
  const text = expressionOn(random, DATA);
  return random.oneIn(3) ? mutated(random, text) : text;
}

function body(one: Case): Record<string, unknown> {
  const { random, world } = one;
  const number = `4${random.text(15, '0123456789')}`;
  const place = random.pick(['mask', 'mask', 'id', 'search_indexes', 'fingerprint_expression', 'all'] as const);
  const is = (name: string): boolean => place === name || place === 'all';
  return {
    data: { number, list: [number, 1, null, { a: number }], own: world.secretMark, [nastyName(random)]: 1 },
    metadata: { k: 'v' },
    deduplicate_token: false,
    ...(is('mask') && { mask: { a: onData(random), b: [onData(random), { c: onData(random) }] } }),
    ...(is('id') && { id: onData(random) }),
    ...(is('search_indexes') && { search_indexes: [onData(random), '{{ data.number }}'] }),
    ...(is('fingerprint_expression') && { fingerprint_expression: onData(random) }),
  };
}

function nastyName(random: Random): string {
  return (
    random.pick(['a', '__proto__', 'constructor', 'length', 'size', 'first']) +
    (random.oneIn(4) ? nastyPiece(random) : '')
  );
}

/** Several tokens; those that were made are looked at by who sees masks alone, and go again. */
async function makeTokens(one: Case): Promise<void> {
  const { random, world } = one;
  const { privateKey, maskedKey } = random.pick([world.main, world.side]);
  const bodies = Array.from({ length: BATCH }, () => JSON.stringify(body(one)));
  const made = await one.sendAll(bodies.map((each) => request(privateKey, 'POST', '/tokens', each)));
  const paths = made.flatMap(({ status, body: text }) =>
    status === 201 ? [`/tokens/${encodeURIComponent(JSON.parse(text).id)}`] : [],
  );
  if (paths.length === 0) return;
  const seen = await one.sendAll(paths.map((path) => request(maskedKey, 'GET', path)));
  for (const { status } of seen) one.check(status === 200, `a token that was made answers ${status}`);
  const gone = await one.sendAll(paths.map((path) => request(privateKey, 'DELETE', path)));
  for (const { status } of gone) one.check(status === 204, `deleting it answers ${status}`);
}

/** On a token of its own, on one that is not there, and on ids that cannot be. */
async function detokenize(one: Case): Promise<void> {
  const { random, world } = one;
  const tenant = random.pick([world.main, world.side]);
  const sent = (): Sent => {
    const id = random.oneIn(6) ? strangeId(one) : random.pick([tenant.tokenId, ...tenant.scratchTokenIds]);
    const head = random.oneIn(4) ? `token:${random.pick(['', ' ', '  ', '\t'])}${id}` : id;
    const text = (): string => {
      const made = expressionOn(random, { heads: [head], bind: `{% capture x %}{{ ${head} }}{% endcapture %}` });
      return random.oneIn(3) ? mutated(random, made) : made;
    };
    const asked = random.oneIn(5) ? { a: [text(), { [text()]: text() }], b: text() } : { a: text() };
    const key = random.pick([tenant.privateKey, tenant.privateKey, tenant.maskedKey]);
    return request(key, 'POST', '/detokenize', JSON.stringify(asked));
  };
  await one.sendAll(Array.from({ length: BATCH }, sent));
}

function strangeId({ random, world }: Case): string {
  return random.pick([
    () => `${world.main.tokenId}${nastyPiece(random)}`,
    () => mutated(random, world.main.tokenId),
    () => world.victim.tokenId,
    () => nastyPiece(random).repeat(1 + random.below(9)),
    () => 'token: token: token:',
    () =>
      random.pick([
        '__proto__',
        'constructor',
        'search',
        'hasOwnProperty',
        'self',
        '"quoted"',
        "it's",
        'a.b.c',
        'x, y',
      ]),
    () => 'i'.repeat(390 + random.below(20)),
  ])();
}

async function tokenize(one: Case): Promise<void> {
  const { random, world } = one;
  const typed = (): object => ({
    type: 'token',
    ...body(one),
    metadata: { k: onData(random).replaceAll('\u0000', '') },
  });
  const sent = (): Sent => {
    const list = [typed(), onData(random), { [nastyName(random)]: typed() }].slice(0, 1 + random.below(3));
    return request(world.side.privateKey, 'POST', '/tokenize', JSON.stringify(list));
  };
  await one.sendAll(Array.from({ length: BATCH / 2 }, sent));
}

/** Changes what is evaluated of a token that is there, with and without the right to see its data. */
async function change(one: Case): Promise<void> {
  const { random, world } = one;
  const sent = (): Sent => {
    const text = onData(random);
    const patch = random.pick([{ fingerprint_expression: text }, { search_indexes: [text] }, { mask: { m: text } }]);
    const key = random.pick([world.side.privateKey, world.side.updateKey]);
    return request(key, 'PATCH', `/tokens/${random.pick(world.side.scratchTokenIds)}`, JSON.stringify(patch));
  };
  await one.sendAll(Array.from({ length: BATCH }, sent));
}
