import { nastyPiece } from './mutations.js';
import type { Random } from './random.js';

/** What an expression is about, in the words of the place it stands in. */
export interface Subject {
  /** What an output may begin with: `data.number`, or the id of a token. */
  readonly heads: readonly string[];
  /** A tag that puts the value into the variable `x`, which tags can then work with. */
  readonly bind: string;
}

type Write = (random: Random, depth: number) => string;

const CHARACTERS_MAX = 400;

/** A text that could be an expression: mostly right, often too much, sometimes shaped to carry digits into an error. */
export function expressionOn(random: Random, { heads, bind }: Subject): string {
  const output: Write = () => `{{ ${random.pick(heads)}${filters(random)} }}`;
  const kinds: readonly (() => string)[] = [
    () => output(random, 0),
    () => output(random, 0),
    () =>
      `${random.pick(['a ', '\u202e', '{ ', '%'])}${output(random, 0)}${random.oneIn(2) ? output(random, 0) : ' z'}`,
    () => bind + tags(random, 0) + (random.oneIn(3) ? output(random, 0) : ''),
    () => bind + tags(random, 0),
    () => bind + telling(random),
    () => bind + telling(random),
    () => `${bind}{{ x${filters(random)} }}`,
    () => random.pick(SHAPES).replaceAll('HEAD', random.pick(heads)).replaceAll('BIND', bind),
  ];
  const text = random.pick(kinds)();
  return random.oneIn(60) ? text : text.slice(0, CHARACTERS_MAX);
}

/** Only what is shaped to carry digits into an error, or to be refused for some of them. */
export function tellingOn(random: Random, { bind }: Subject): string {
  return bind + telling(random);
}

/** Names, forms and depths that are wrong as a whole. */
const SHAPES: readonly string[] = [
  '{{ HEAD',
  '{{ HEAD }',
  '{{ HEAD | }}',
  '{{ HEAD || upcase }}',
  '{{ HEAD | upcase:: }}',
  '{{- HEAD -}}',
  '{{-HEAD-}}',
  '{{HEAD|json:"$"}}',
  '{{{{ HEAD }}}}',
  '{% HEAD %}',
  '{% assign = HEAD %}',
  '{% assign __proto__ = 1 %}{{ HEAD }}{{ __proto__ }}',
  '{% raw %}{{ HEAD }}',
  '{% raw %}{{ HEAD }}{% endraw %}',
  '{% comment %}{{ HEAD }}{% endcomment %}{{ HEAD }}',
  '{% # {{ HEAD }} %}',
  '{%- if HEAD -%}{%- endif -%}',
  'BIND{% if x %}{% if x %}{% if x %}{% if x %}{% if x %}{% if x %}{% if x %}{% if x %}',
  'BIND{% for i in (1..x) %}{{ i }}{% endfor %}',
  'BIND{% for i in (x..1) limit: x offset: x %}{{ i }}{% endfor %}',
  'BIND{% for i in (1..9999999) %}{% for j in (1..9999999) %}{{ x }}{% endfor %}{% endfor %}',
  'BIND{% tablerow i in x cols: x limit: x %}{{ i }}{% endtablerow %}',
  'BIND{% case x %}{% when x %}{{ x | to_boolean }}{% else %}{{ x | to_number }}{% endcase %}',
  'BIND{% cycle x: x, x %}{% increment x %}{% decrement x %}{{ x }}',
  'BIND{% liquid\nassign y = x | append: x\necho y\n%}',
  'BIND{% capture x %}{{ x }}{{ x }}{{ x }}{% endcapture %}{{ x | split: "" | sort | uniq | join: x }}',
  'BIND{% include x %}{% render x %}{% layout x %}{% block x %}{% endblock %}',
  'BIND{{ x[x][x][x] }}{{ x.x.x.x }}{{ [x] }}{{ x["__proto__"] }}{{ x.constructor.constructor }}',
];

/** Something cut out of the value goes where a fault would be reported with a place, a number or a name. */
function telling(random: Random): string {
  const at = random.below(16);
  const digit = `{% assign n = x | slice: ${at}, ${1 + random.below(3)} | plus: 0 %}`;
  const padded = `{% assign p = ${random.pick(['"$"', '""', '"x"', '"$["'])} | pad_${random.pick(['left', 'right'])}: n, "${random.pick(['.', '[', ' ', '\u0301'])}" %}`;
  return digit + random.pick(TELLTALES).replaceAll('PAD', padded);
}

const TELLTALES: readonly string[] = [
  'PAD{{ x | json: p }}',
  'PAD{% assign q = p | append: "$!" %}{{ x | json: q }}',
  '{% assign q = "$[" | append: n | append: "!" %}{{ x | json: q }}',
  '{{ x | pad_left: n, x }}',
  '{{ x | reveal_last: x }}',
  '{{ x | reveal: n, n, x }}',
  '{{ x | to_boolean }}',
  '{{ n | to_boolean }}',
  '{{ x | card_exp: n }}',
  '{{ x | hmac: x, n }}',
  '{{ x | alias_card: n }}',
  '{{ x | split: n | json: x }}',
  '{{ 1 | divided_by: n | to_boolean }}',
  '{{ x | date: x }}{{ n | date: n, n }}',
  '{{ x | sort: x }}{{ x | where: x, n | map: n }}',
  '{% for i in (n..100000000) %}{% endfor %}',
  '{% for i in (1..n) %}{% for j in (1..99999) %}{{ j }}{% endfor %}{% endfor %}',
  '{% assign m = n | times: 200000 %}{{ "" | pad_left: m, "x" | append: "" }}',
  '{% assign m = n | times: 99999999 %}{{ "" | pad_left: m, "x" }}',
  '{% if n > 4 %}{{ x | to_boolean }}{% else %}{{ x | pad_left }}{% endif %}',
  '{% case n %}{% when 1 %}{{ x | last4: 1 }}{% when 2 %}{{ x | json }}{% else %}{{ x | hmac: "md5" }}{% endcase %}',
  '{% tablerow i in (1..9) cols: n %}{% endtablerow %}',
  '{% assign l = x | split: "" %}{% for i in l offset: n %}{{ i | to_boolean }}{% endfor %}',
  '{{ x | slice: n, x | to_number | to_boolean }}',
];

function tags(random: Random, depth: number): string {
  const inner = (): string =>
    depth > 3 || random.oneIn(3) ? `{{ ${operand(random)}${filters(random)} }}` : tags(random, depth + 1);
  const value = operand(random);
  const kinds: readonly (() => string)[] = [
    () =>
      `{% if ${value} ${random.pick(['==', '!=', '<', '>', 'contains', 'and', 'or', '='])} ${operand(random)} %}${inner()}{% else %}${inner()}{% endif %}`,
    () => `{% unless ${value} %}${inner()}{% endunless %}`,
    () => `{% for i in ${random.oneIn(2) ? value : range(random)} %}${inner()}{% endfor %}`,
    () => `{% assign ${name(random)} = ${value}${filters(random)} %}${inner()}`,
    () => `{% capture ${name(random)} %}${inner()}{% endcapture %}${inner()}`,
    () => `{% case ${value} %}{% when ${operand(random)} %}${inner()}{% endcase %}`,
    () => `{% tablerow i in ${range(random)} cols: ${value} %}${inner()}{% endtablerow %}`,
    () => `{% cycle ${value}, ${operand(random)} %}{% increment ${name(random)} %}${inner()}`,
    () => `{% echo ${value} %}{% liquid assign y = ${value} %}${inner()}`,
  ];
  return random.pick(kinds)();
}

function filters(random: Random): string {
  let made = '';
  for (let left = random.below(5); left > 0; left -= 1) {
    made += ` | ${random.oneIn(40) ? name(random) : random.pick(FILTERS)}`;
    const given = random.oneIn(3) ? 0 : random.below(5);
    if (given > 0) made += `: ${Array.from({ length: given }, () => argument(random)).join(', ')}`;
  }
  return made;
}

const FILTERS: readonly string[] = [
  ...['last4', 'reveal_last', 'reveal', 'card_mask', 'card_bin', 'card_exp', 'alias_card', 'alias_preserve_format'],
  ...['alias_preserve_length', 'json', 'json', 'json', 'stringify', 'to_string', 'to_number', 'to_boolean', 'pad_left'],
  ...[
    'pad_right',
    'hmac',
    'to_base64',
    'to_base16',
    'append',
    'prepend',
    'upcase',
    'split',
    'join',
    'replace',
    'remove',
  ],
  ...[
    'slice',
    'size',
    'first',
    'last',
    'sort',
    'sort_natural',
    'uniq',
    'map',
    'where',
    'sum',
    'concat',
    'compact',
    'find',
  ],
  ...['date', 'times', 'plus', 'divided_by', 'modulo', 'round', 'truncate', 'truncatewords', 'strip_html', 'escape'],
  ...[
    'url_encode',
    'url_decode',
    'base64_encode',
    'base64_decode',
    'default',
    'squish',
    'reverse',
    'group_by',
    'sample',
  ],
];

function argument(random: Random): string {
  if (random.oneIn(12)) return `${name(random)}: ${operand(random)}`;
  return random.oneIn(4) ? quoted(random, jsonPath(random)) : operand(random);
}

function operand(random: Random): string {
  const kinds: readonly (() => string)[] = [
    () => 'x',
    () => 'x',
    () => `x.${name(random)}`,
    () => `x[${random.pick(['0', '-1', 'x', '"number"', '9007199254740993'])}]`,
    () => String(random.below(20)),
    () => random.pick(['-1', '1e3', '1.5', '9007199254740993', '99999999999999999999', '0.0000001', '1048577', '-0']),
    () => quoted(random, random.pick(['', 'a', '4', 'X', 'MM/YY', 'sha-512', 'number', '(a+)+$', '.*', '%Y-%m', ' '])),
    () => random.pick(['true', 'false', 'nil', 'null', 'empty', 'blank', 'forloop', 'data', 'metadata', 'n', 'y']),
    () => range(random),
    () => quoted(random, nastyPiece(random)),
  ];
  return random.pick(kinds)();
}

function quoted(random: Random, text: string): string {
  const mark = text.includes('"') || random.oneIn(3) ? "'" : '"';
  return `${mark}${text}${random.oneIn(80) ? '' : mark}`;
}

function range(random: Random): string {
  const bound = (): string =>
    random.pick(['1', '3', '0', '-5', 'x', 'n', '100000', '99999999999', '1.5', '"1"', 'nil']);
  return `(${bound()}..${bound()})`;
}

function name(random: Random): string {
  if (random.oneIn(20)) return 'n'.repeat(random.below(390));
  return random.pick([
    'y',
    'z',
    'x',
    'number',
    'a_b',
    'a-b',
    '__proto__',
    'constructor',
    'toString',
    'forloop',
    'data',
    'ü',
  ]);
}

function jsonPath(random: Random): string {
  const segments: readonly string[] = [
    ...[
      '.number',
      '.a',
      '..*',
      '..number',
      '.*',
      '[0]',
      '[-1]',
      '[*]',
      "['number']",
      "['__proto__']",
      '[0:9:2]',
      '[::-1]',
    ],
    ...[
      '[?(@.a)]',
      '[?(@ > 4)]',
      "[?(@.number == '4')]",
      '[?(@.a =~ /(a+)+$/)]',
      '[?(!@.a && @.b || $.c)]',
      '[(@.length-1)]',
    ],
    ...[
      '[9007199254740993]',
      '[0,1,2]',
      '[',
      ']',
      '.',
      '..',
      '[?(',
      '.__proto__',
      '.constructor',
      '[?(@[?(@[?(@)])])]',
    ],
  ];
  const path = Array.from({ length: random.below(6) }, () => random.pick(segments)).join('');
  return `${random.oneIn(15) ? '' : '$'}${path}${random.oneIn(10) ? nastyPiece(random) : ''}`;
}
