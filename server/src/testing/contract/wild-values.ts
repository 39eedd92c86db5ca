import fc from 'fast-check';

/** Texts that stand at a bound or break a rule somewhere. */
const TEXTS = [
  '',
  ' ',
  'x',
  'ab',
  'abc',
  ' abc',
  'abc ',
  'a\u0000b',
  'a\ud800b',
  '\ud83d\ude00\ud83d\ude00',
  'search',
  'searchx',
  'token:abc',
  'a/b',
  'a{b',
  '{{ data }}',
  '{{ data',
  '{% x %}',
  'toString',
  'true',
  'token',
  'card',
  'TOKEN',
  '/pci/high/',
  '/',
  '/pci',
  '/p ci/',
  '/PCI/',
  '4242424242424242',
  '4242424242424241',
  '021000021',
  '021000020',
  '123-45-6789',
  '12-3456789',
  '123456789',
  '12',
  '0123',
  '12345',
  '2099-12-31T00:00:00Z',
  '12/31/2099',
  '2099365',
  '2099',
  '2000-01-01',
  '2099-13-01',
  'tomorrow',
  '0123456789ABCDEFabcdef',
  'a'.repeat(200),
  'a'.repeat(201),
  'a'.repeat(400),
  'a'.repeat(401),
  '\ud83d\ude00'.repeat(200),
  '\ud83d\ude00'.repeat(201),
  'a'.repeat(2_000),
  'a'.repeat(2_001),
  `/${'a'.repeat(198)}/`,
  `/${'a'.repeat(199)}/`,
  'general',
  'mask',
  'low',
];

const NUMBERS = [0, -0, 1, 12, 13, 1.5, 99, 100, 9_999, 10_000, 1_999, 2_000, 2_099, 2_100, -1, 604_800, 604_801];
const LARGE = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 53, -(2 ** 53), 1e300, Infinity, 1e-7];

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(...TEXTS) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...NUMBERS, ...LARGE) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false) },
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.double({ noNaN: true }),
);

const NAMES = [
  'type',
  'data',
  'number',
  'k',
  '',
  'a'.repeat(200),
  'a'.repeat(201),
  'a\u0000',
  '\ud800',
  '__proto__',
  'toString',
];

const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 5 }));

/** As the JSON parser makes objects: `__proto__` is a member like any other. */
function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  return JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${jsonOf(value)}`).join(',')}}`);
}

function jsonOf(value: unknown): string {
  return value === Infinity ? '1e999' : (JSON.stringify(value) ?? 'null');
}

const many = (length: number, value: unknown) => Array.from({ length }, () => value);

/** Any JSON, with a taste for bounds: too many, too long, too large, of the wrong kind. */
export const wildValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 5, arbitrary: leaf },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(objectOf) },
    fc.tuple(fc.constantFrom(9, 10, 11, 20, 21, 100, 101), leaf).map(([length, item]) => many(length, item)),
    fc
      .tuple(fc.constantFrom(49, 50, 51, 52), leaf, leaf)
      .map(([length, first, other]) =>
        objectOf(many(length, other).map((item, at) => [`k${at}`, at === 0 ? first : item])),
      ),
  ),
})).value;

/** A whole value with a few of its members, at any depth, replaced, removed or added. */
export function mutationsOf(whole: unknown): fc.Arbitrary<unknown> {
  const change = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add', 'repeat'),
    name,
    value: wildValue,
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    let changed: unknown = structuredClone(whole);
    for (const one of changes) changed = applied(changed, one);
    return changed;
  });
}

interface Change {
  readonly at: number;
  readonly kind: string;
  readonly name: string;
  readonly value: unknown;
}

function applied(whole: unknown, { at, kind, name: added, value: given }: Change): unknown {
  const value = structuredClone(given);
  const places = placesIn(whole);
  const place = places[at % (places.length + 1)];
  if (place === undefined) return kind === 'replace' ? value : whole;
  const { owner, key } = place;
  if (kind === 'remove') {
    if (Array.isArray(owner)) owner.splice(Number(key), 1);
    else Reflect.deleteProperty(owner, key);
  } else if (kind === 'repeat' && Array.isArray(owner)) {
    owner.push(...many(20, owner[Number(key)]));
  } else if (kind === 'add' && !Array.isArray(owner)) {
    Object.defineProperty(owner, added, { value, enumerable: true, configurable: true, writable: true });
  } else {
    Object.defineProperty(owner, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return whole;
}

function placesIn(value: unknown): { owner: object; key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [{ owner: value, key }, ...placesIn(member)]);
}
