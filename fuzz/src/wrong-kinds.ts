import type { Schema } from './document.js';
import type { Random } from './random.js';

/** A wrong value as JSON text, made for the place it goes to. */
export interface WrongKind {
  readonly name: string;
  readonly make: (schema: Schema, random: Random) => string;
}

const quoted = (text: string): string => JSON.stringify(text);
const fixed = (name: string, text: string): WrongKind => ({ name, make: () => text });
const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

const LONGEST = 1_048_576;

/** Every wrong kind there is for a place in a body. */
export const WRONG_KINDS: readonly WrongKind[] = [
  fixed('null', 'null'),
  fixed('true', 'true'),
  fixed('false', 'false'),
  fixed('zero', '0'),
  fixed('minus zero', '-0'),
  fixed('negative', '-1'),
  fixed('float', '1.5'),
  fixed('tiny', '5e-324'),
  fixed('past double', '1e400'),
  fixed('2^53', '9007199254740992'),
  fixed('2^53 + 1', '9007199254740993'),
  fixed('-2^53 - 1', '-9007199254740993'),
  fixed('2^31', '2147483648'),
  fixed('2^63', '9223372036854775808'),
  fixed('number of 400 digits', '9'.repeat(400)),
  fixed('NaN', 'NaN'),
  fixed('Infinity', 'Infinity'),
  fixed('undefined', 'undefined'),
  fixed('leading zero', '007'),
  fixed('plus', '+1'),
  fixed('hex', '0x10'),
  fixed('text NaN', '"NaN"'),
  fixed('text null', '"null"'),
  fixed('text number', '"1"'),
  fixed('text true', '"true"'),
  fixed('empty text', '""'),
  fixed('blank', '"   "'),
  fixed('tabs and newlines', '"\\t\\n\\r"'),
  fixed('NUL', '"a\\u0000b"'),
  fixed('raw NUL', '"a\u0000b"'),
  fixed('raw newline', '"a\nb"'),
  fixed('lone high surrogate', '"a\\ud800b"'),
  fixed('lone low surrogate', '"\\udc00"'),
  fixed('surrogates in the wrong order', '"\\udc00\\ud800"'),
  fixed('broken escape', '"\\u12"'),
  fixed('unknown escape', '"\\x41"'),
  fixed('single quotes', "'a'"),
  fixed('open text', '"abc'),
  fixed('byte order mark', '"\ufeffabc"'),
  fixed('non-characters', '"\\ufffe\\uffff"'),
  fixed('empty list', '[]'),
  fixed('list of null', '[null]'),
  fixed('list of lists', '[[[]],[[1]]]'),
  fixed('list of kinds', '[1,"a",null,true,{},[]]'),
  fixed('list with a hole', '[1,,2]'),
  fixed('trailing comma', '[1,]'),
  fixed('empty object', '{}'),
  fixed('object with an empty name', '{"":1}'),
  fixed('duplicate names', '{"a":1,"a":{"b":2},"a":[3]}'),
  fixed('__proto__', '{"__proto__":{"isAdmin":true,"type":"card"}}'),
  fixed('constructor', '{"constructor":{"prototype":{"isAdmin":true}}}'),
  fixed('names of methods', '{"toString":1,"valueOf":null,"hasOwnProperty":"x","toJSON":1,"length":-1,"then":1}'),
  fixed('looks like a promise', '{"then":"function"}'),
  fixed('looks like a buffer', '{"type":"Buffer","data":[1,2,3]}'),
  fixed('unknown fields', '{"unknown":1,"id":"x","tenant_id":"y","created_at":0,"$where":"1"}'),
  fixed('64 deep', nested('[', ']', 60)),
  fixed('65 deep', nested('[', ']', 66)),
  fixed('10,000 deep', nested('[', ']', 10_000)),
  fixed('objects 10,000 deep', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
  fixed('never closed', '['.repeat(10_000)),
  fixed('200 times __proto__', nested('{"__proto__":', '}', 60).replace('}', '1}')),
  { name: 'shortest', make: ({ minLength = 1 }) => quoted('a'.repeat(minLength)) },
  { name: 'too short', make: ({ minLength = 1 }) => quoted('a'.repeat(Math.max(0, minLength - 1))) },
  { name: 'longest', make: ({ maxLength = 400 }) => quoted('a'.repeat(maxLength)) },
  { name: 'too long', make: ({ maxLength = 400 }) => quoted('a'.repeat(maxLength + 1)) },
  { name: 'longest in emoji', make: ({ maxLength = 400 }) => quoted('\u{1f511}'.repeat(maxLength)) },
  { name: 'too long in emoji', make: ({ maxLength = 400 }) => quoted('\u{1f511}'.repeat(maxLength + 1)) },
  { name: 'least', make: ({ minimum = 0 }) => String(minimum) },
  { name: 'too little', make: ({ minimum = 0 }) => String(minimum - 1) },
  { name: 'most', make: ({ maximum = 100 }) => String(maximum) },
  { name: 'too much', make: ({ maximum = 100 }) => String(maximum + 1) },
  { name: 'most items', make: ({ maxItems = 100 }) => `[${Array(maxItems).fill('"a"').join(',')}]` },
  {
    name: 'too many items',
    make: ({ maxItems = 100 }) =>
      `[${Array(maxItems + 1)
        .fill('{}')
        .join(',')}]`,
  },
  { name: 'the same item often', make: ({ items }) => `[${Array(20).fill(quoted(String(items?.enum?.[0] ?? 'a')))}]` },
  { name: 'another case', make: (schema) => quoted(String(schema.enum?.[0] ?? 'Abc').toUpperCase()) },
  { name: 'a space behind', make: (schema) => quoted(`${String(schema.enum?.[0] ?? 'abc')} `) },
  { name: '50 kB', make: () => quoted('x'.repeat(50_000)) },
  { name: '5,000 members', make: () => `{${Array.from({ length: 5_000 }, (_, at) => `"k${at}":${at}`).join(',')}}` },
  { name: '20,000 items', make: () => `[${Array(20_000).fill('0').join(',')}]` },
  { name: 'a body at its limit', make: () => quoted('x'.repeat(LONGEST - 2_000)) },
  { name: 'a body past its limit', make: () => quoted('x'.repeat(LONGEST + 1)) },
  { name: 'random bytes', make: (_schema, random) => random.bytes(1 + random.below(60)).toString('latin1') },
  { name: 'random JSON', make: (_schema, random) => randomJson(random, 0) },
];

const DEPTH_MAX = 6;
const PIECES = [
  '\u0000',
  '\ud800',
  '"',
  '\\',
  '{{',
  '}}',
  '{%',
  "'",
  '--',
  '%',
  '$',
  '/',
  'a',
  '0',
  '\u202e',
  '\u{10ffff}',
];

/** Any JSON, of any shape. */
export function randomJson(random: Random, depth: number): string {
  const members = depth >= DEPTH_MAX ? 0 : random.below(5);
  switch (random.below(depth >= DEPTH_MAX ? 4 : 6)) {
    case 0:
      return random.pick(['null', 'true', 'false', '0', '-1', '1e3', '0.1', '9007199254740993', '1e309']);
    case 1:
    case 2:
      return quoted(Array.from({ length: random.below(12) }, () => random.pick(PIECES)).join(''));
    case 3:
      return String(random.below(2 ** 31) - 2 ** 30);
    case 4:
      return `[${Array.from({ length: members }, () => randomJson(random, depth + 1)).join(',')}]`;
    default:
      return `{${Array.from({ length: members }, () => `${quoted(random.pick([...PIECES, 'data', 'type', 'id', '__proto__']))}:${randomJson(random, depth + 1)}`).join(',')}}`;
  }
}

/** Wrong values for a place that is text: in a path, a query or a header. */
export const WRONG_TEXTS: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '1.5',
  '1e3',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '[object Object]',
  '9007199254740993',
  '2147483648',
  '9'.repeat(400),
  '\u0000',
  'a\u0000b',
  '\ufeff',
  '\u202eabc',
  '\u{1f511}',
  'e\u0301',
  '__proto__',
  'constructor',
  'toString',
  'self',
  '*',
  '%',
  '%00',
  '../../etc/passwd',
  "' OR 1=1 --",
  '"; DROP TABLE tokens; --',
  '{{ data }}',
  '{% for i in (1..1000000) %}x{% endfor %}',
  '$.data[?(@.x)]',
  '<script>alert(1)</script>',
  '#{7*7}',
  '00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-00000000000g',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'a'.repeat(400),
  'a'.repeat(401),
  'a'.repeat(3_000),
  '2024-02-30',
  '2024-02-13T09:30:00.125+00:00',
  '0000-00-00',
  '99999-01-01',
  '-000001-01-01',
  '2024-W53-1',
  '2024-366T24:00',
  '12/31/9999 11:59 PM +14:00',
  '{"k":{"deep":[1]}}',
  '{"k":1}',
  '{"k":"v"',
  '1,2,3',
  'details,details',
];
