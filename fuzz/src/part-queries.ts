import type { Answer } from './answer.js';
import { mutated, nastyPiece } from './mutations.js';
import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import { queryOn } from './query-text.js';
import { encoded, request } from './request.js';

const json = JSON.stringify;
const QUERY_MAX = 1_000;
const SIZE = 100;
/** What a text that breaks a limit may break. */
const TERMS_MAX = 25;
const DEPTH_MAX = 32;

/** Text inside search queries and list filters, on a tenant whose tokens are all known. */
export const queries: Part = {
  name: 'queries',
  about: 'search texts and filters by the grammar, right ones held against what they mean, wrong ones by mutation',
  cases: { short: 160, long: 24_000 },
  width: 16,
  run: oneOf(askRight, askRight, askWrong, askWrong, askWrong, askLimits, filter),
};

function rowsOf({ body }: Answer): string[] {
  return JSON.parse(body).data.map(({ id }: { id: string }) => id);
}

/** Whatever is answered, its rows are tokens of the shelf; what is refused is refused for its text. */
function checkKnown(one: Case, answer: Answer): void {
  if (answer.status === 200) {
    const known = new Set(one.world.shelf.ids);
    one.check(
      rowsOf(answer).every((id) => known.has(id)),
      'a search found what is not there',
    );
  } else {
    const { code } = JSON.parse(answer.body);
    const isAboutText = answer.status === 400 && ['invalid_query', 'validation_failed'].includes(code);
    one.check(isAboutText, `a search answers ${answer.status} ${code}`);
  }
}

/** A text that is right finds what it means: no row more and none less, and its negation finds all others. */
async function askRight(one: Case): Promise<void> {
  const { random, world } = one;
  const { shelf } = world;
  const { text, isMatch } = queryOn(random, shelf);
  const negated = `NOT (${text})`;
  if ([...negated].length > QUERY_MAX) return;
  const [found, others] = await one.sendAll(
    [text, negated].map((query) => request(shelf.privateKey, 'POST', '/tokens/search', json({ query, size: SIZE }))),
  );
  if (found?.status !== 200 || others?.status !== 200) {
    const isTooMuch = (text.match(/:/g) ?? []).length > TERMS_MAX;
    one.check(isTooMuch, `a right text answers ${found?.status}, its negation ${others?.status}`);
    return;
  }
  const expected = new Set(shelf.shelved.filter(isMatch).map(({ id }) => id));
  const isRight = json(rowsOf(found)) === json(shelf.ids.filter((id) => expected.has(id)));
  one.check(isRight, `it finds ${rowsOf(found).length} tokens, not the ${expected.size} it means`);
  const isRest = json(rowsOf(others)) === json(shelf.ids.filter((id) => !expected.has(id)));
  one.check(isRest, 'its negation does not find all others');
}

async function askWrong(one: Case): Promise<void> {
  const { random, world } = one;
  const texts = Array.from({ length: 8 }, () => mutated(random, queryOn(random, world.shelf).text));
  const answers = await one.sendAll(
    texts.map((query) => {
      const [key, body] = [random.pick([world.shelf.privateKey, world.shelf.maskedKey]), json({ query, size: SIZE })];
      return request(key, 'POST', random.pick(['/tokens/search', '/v2/tokens/search']), body);
    }),
  );
  for (const answer of answers) checkKnown(one, answer);
}

/** At a limit and one past it. */
async function askLimits(one: Case): Promise<void> {
  const { random, world } = one;
  const { text } = queryOn(random, world.shelf, Number.POSITIVE_INFINITY);
  const many = random.pick([1, TERMS_MAX - 1, TERMS_MAX, TERMS_MAX + 1, 40]);
  const deep = random.pick([1, DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1, 200, 480]);
  const piece = nastyPiece(random);
  const texts = [
    Array(many)
      .fill(text)
      .join(random.pick([' AND ', ' OR '])),
    `${'('.repeat(deep)}${text}${')'.repeat(deep)}`,
    `${random.pick(['NOT ', '!', '-', '(', 'NOT(']).repeat(deep)}${text}`,
    `data:"${'x'.repeat(QUERY_MAX - 8 + random.below(4))}"`,
    `metadata.${piece.repeat(1 + random.below(100))}:${piece}`,
    `created_at:${random.pick(['[', '{'])}${piece} TO ${random.pick(['*', piece, '9999-12-31'])}${random.pick([']', '}'])}`,
    `created_at:${random.pick(['0000-01-01', '9999-12-31T23:59:59.9999999Z', '2024-02-30', '-0001-01-01', '10000-01-01', '24'])}`,
    `container:${random.pick(['*', '/*', '/**', '*/', '/shelf', '/a/'.repeat(200), '/../', piece])}`,
    `${random.pick(['Data', 'ID', 'metadata', 'metadata.', 'tenant_id', '__proto__', 'constructor', ''])}:${text}`,
    `type:"${'\\'.repeat(random.below(9))}"`,
  ];
  const key = world.shelf.privateKey;
  const answers = await one.sendAll(
    texts.map((query) => request(key, 'POST', '/v2/tokens/search', json({ query, size: 1 + random.below(SIZE) }))),
  );
  for (const answer of answers) checkKnown(one, answer);
}

/** The same values as filters of a list. */
async function filter(one: Case): Promise<void> {
  const { random, world } = one;
  const { shelf } = world;
  const token = random.pick(shelf.shelved);
  const [key, value] = random.pick([...Object.entries(token.metadata), ['absent', 'v']] as [string, string][]);
  const text = (right: string): string => {
    const wrong = random.oneIn(2) ? right : mutated(random, right);
    return random.oneIn(30) ? '%ff' : encoded(wrong);
  };
  const pairs: readonly (() => string)[] = [
    () => `id=${text(token.id)}`,
    () => `type=${text(token.type)}`,
    () => `container=${text(token.container)}`,
    () => `metadata.${text(key)}=${text(value)}`,
    () => `metadata[${text(key)}]=${text(value)}`,
    () => `metadata=${text(json({ [key]: value }))}`,
    () => `metadata=${text(random.pick(['{"a":1}', '[]', '{', '{"__proto__":"x"}', 'null', '"x"']))}`,
    () => `fingerprint=${text('4'.repeat(43))}`,
    () => `size=${text(random.pick(['1', '100', '101', '0', '-1', '1e2', '0x10', '٣']))}`,
    () => `page=${text(random.pick(['1', '2147483647', '2147483648', '1.0', ' 1']))}`,
  ];
  const target = (path: string): string =>
    `${path}?${Array.from({ length: 1 + random.below(3) }, () => random.pick(pairs)()).join('&')}`;
  const answers = await one.sendAll(
    ['/tokens', '/tokens', '/v2/tokens', '/v2/tokens'].map((path) => request(shelf.privateKey, 'GET', target(path))),
  );
  for (const answer of answers) {
    if (answer.status === 200) checkKnown(one, answer);
    else one.check(answer.status === 400, `a filter answers ${answer.status}`);
  }
}
