import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import type { Random } from './random.js';

const VALUE = '4242424242424242';

/** Small texts that ask for a great deal of work. */
const EXPRESSIONS: readonly ((random: Random) => string)[] = [
  () => '{% for i in (1..1000000000) %}x{% endfor %}',
  () => '{% for i in (1..9999) %}{% for j in (1..9999) %}{% for k in (1..9999) %}.{% endfor %}{% endfor %}{% endfor %}',
  () => '{% assign a = "xxxxxxxxxx" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}{{ a }}',
  () => '{% capture a %}{% for i in (1..5000) %}{{ data.value }}{% endfor %}{% endcapture %}{{ a | replace: "4", a }}',
  () => '{{ data.value | pad_left: 2000000000, "x" }}',
  () => '{{ data.value | pad_right: 1e308, "x" }}',
  () => '{{ data.value | split: "" | join: data.value | split: "" | join: data.value | split: "" | join: data.value }}',
  () => `{{ data.value ${'| append: data.value '.repeat(17)}}}`,
  () => `{{ data.value ${'| upcase '.repeat(40)}}}`,
  () => '{{ data | json: "$..*..*..*..*..*" }}',
  () => '{{ data | json: "$[?(@.a[?(@.b[?(@.c)])])]" }}',
  () => '{{ data | json: "$.list[0:1000000000:1]" }}',
  () => '{{ data.list | sort | uniq | reverse | sort_natural | compact | concat: data.list | join: "," }}',
  () => '{{ data.value | slice: -1000000000, 2000000000 }}',
  () => '{{ data.value | truncate: -5 }}{{ data.value | truncatewords: 99999999999 }}',
  () => '{{ 1 | divided_by: 0 }}',
  () => '{{ 9007199254740993 | times: 9007199254740993 | plus: 1 | modulo: 0 }}',
  () => '{{ "now" | date: "%99999999Y" }}',
  () => '{{ data.value | date: "%s%N%n" }}',
  () => '{{ data.__proto__.constructor.constructor }}',
  () => '{{ data["constructor"]["prototype"] | json }}',
  () => '{% include "/etc/passwd" %}{% render "x" %}{% layout "y" %}',
  () => '{% tablerow i in (1..1000000) cols:1 %}{{ i }}{% endtablerow %}',
  () => '{% cycle "a","b" %}{% increment x %}{% decrement x %}{% liquid assign a = 1 %}',
  () => '{% case data %}{% when 1 %}{% for i in data %}{{ i | hmac: "sha-512", i }}{% endfor %}{% endcase %}',
  () => '{{ data.value | hmac: "md5", "" }}{{ data.value | alias_card: true, true }}',
  () => '{{ data.value | alias_preserve_format: -1, 999999999 }}',
  () => '{{ data.value | card_mask: true, true, "xx", "0123456789" }}',
  () => '{{ data.value | replace: "(a+)+$", "b" | split: "(a|a)*" }}',
  () => '{{ data.list | where: "a", "b" | map: "c" | sum | first | last | size }}',
  () => '{% if a %}'.repeat(40),
  () => '{{'.repeat(190),
  () => `{{ ${'('.repeat(190)} }}`,
  () => `{{ data${'.a'.repeat(190)} }}`,
  () => `{{ data${'[data'.repeat(60)}${']'.repeat(60)} }}`,
  () => '{% raw %}{{ }}{% endraw %}{% comment %}{% endcomment %}{%- -%}',
  (random) => random.text(1 + random.below(400), '{}%|:"\' data.value()[]0123456789,=<>!-'),
  (random) => tagSoup(random),
];

const SOUP = [
  ...['{{', '}}', '{%', '%}', 'for i in', 'endfor', 'if', 'endif', 'data', '.value', '|', ':', ',', "'", '"', '(1..9)'],
  ...['append:', 'json:', 'split:', 'reveal:', 'assign x =', 'x', '[', ']', '==', 'contains', 'and', 'or', '\u{1f511}'],
];

function tagSoup(random: Random): string {
  return Array.from({ length: 1 + random.below(50) }, () => random.pick(SOUP))
    .join(' ')
    .slice(0, 400);
}

const QUERIES: readonly ((random: Random) => string)[] = [
  () => `${'('.repeat(490)}type:card${')'.repeat(490)}`,
  () => '('.repeat(1_000),
  () => `${'NOT '.repeat(240)}type:card`,
  () => `${'!'.repeat(980)}type:card`,
  () => `${'-'.repeat(980)}type:card`,
  () => Array.from({ length: 25 }, () => 'type:card').join(' AND '),
  () => Array.from({ length: 25 }, () => 'NOT metadata.k:v').join(' OR '),
  () => Array.from({ length: 26 }, () => 'id:a').join(' OR '),
  () => `data:"${'\\"'.repeat(480)}"`,
  () => `data:"${'a'.repeat(990)}`,
  () => 'container:/*/*/*/*',
  () => `container:/${'a/'.repeat(450)}*`,
  () => 'created_at:[* TO *]',
  () => 'created_at:{2024-02-30 TO 9999-99-99}',
  () => 'created_at:[2024-01-01 TO 2023-01-01}',
  () => `metadata.${'k'.repeat(900)}:v`,
  () => 'metadata.__proto__:x AND metadata.constructor:y',
  () => 'type:card type:bank',
  () => 'AND OR NOT',
  () => ':::"":[]{}',
  () => "id:' OR 1=1 --",
  () => 'fingerprint:%_\\',
  (random) => random.text(1 + random.below(1_000), 'type:card()"\\[]{} ANDORNOT!-*.:/'),
  (random) =>
    Array.from({ length: 1 + random.below(30) }, () => random.pick(QUERY_SOUP))
      .join(' ')
      .slice(0, 1_000),
];
const QUERY_SOUP = [
  'type:card',
  'id:a',
  '(',
  ')',
  'AND',
  'OR',
  'NOT',
  '!',
  'data:"x"',
  'metadata.k:v',
  'created_at:[* TO *]',
];

/** Expressions and search texts that are deep, long, unbalanced or expensive: refused or done, soon in either case. */
export const bombs: Part = {
  name: 'bombs',
  about: 'masks, fingerprints, indexes, ids, detokenize and search texts that ask for too much',
  cases: { short: 300, long: 6_000 },
  // Each may take its whole budget of time on the one thread there is.
  width: 6,
  run: oneOf(bombToken, bombToken, bombDetokenize, bombSearch, bombSearch),
};

async function bombToken(one: Case): Promise<void> {
  const { random, world } = one;
  const expression = random.pick(EXPRESSIONS)(random);
  const data = { value: VALUE, list: Array.from({ length: 50 }, (_, at) => at), own: world.secretMark };
  const place = random.pick(['mask', 'search_indexes', 'fingerprint_expression', 'id'] as const);
  const bomb = {
    mask: { mask: { a: expression, b: [expression], c: `x ${expression}` } },
    search_indexes: { search_indexes: [expression] },
    fingerprint_expression: { fingerprint_expression: expression },
    id: { id: expression },
  }[place];
  const body = JSON.stringify({ data, ...bomb });
  const made = await one.call(world.main.privateKey, 'POST', '/tokens', body);
  if (made.status !== 201 || place !== 'mask') return;
  const { id } = JSON.parse(made.body);
  // The mask is only worked out for somebody who sees masks: a search by a key without a rule that reveals.
  await one.call(world.main.maskedKey, 'GET', `/tokens/${encodeURIComponent(id)}`);
  await one.call(world.main.privateKey, 'DELETE', `/tokens/${encodeURIComponent(id)}`);
}

async function bombDetokenize(one: Case): Promise<void> {
  const { random, world } = one;
  const { tokenId } = world.main;
  const expression = random.pick(EXPRESSIONS)(random).replaceAll('data.value', tokenId).replaceAll('data', tokenId);
  const times = random.oneIn(5) ? 100 : 1;
  await one.call(world.main.privateKey, 'POST', '/detokenize', JSON.stringify(Array(times).fill(expression)));
}

async function bombSearch(one: Case): Promise<void> {
  const { random, world } = one;
  const query = random.pick(QUERIES)(random);
  const target = random.pick(['/tokens/search', '/v2/tokens/search']);
  await one.call(world.main.privateKey, 'POST', target, JSON.stringify({ query, size: 3 }));
}
