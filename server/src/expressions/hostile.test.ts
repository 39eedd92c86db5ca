import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../kernel/errors.js';
import type { Json } from '../kernel/json.js';
import { createBudget } from './budget.js';
import { createExpressions } from './expressions.js';
import { evaluateText, refusal } from './expressions-fixture.js';

const MEBIBYTE = 1_048_576;
const TEXT = 'a'.repeat(MEBIBYTE);

/** Data of a mebibyte or more, as bad for each construct as data can be. Nothing here is asked to be fast by a clock. */
const DATA: Readonly<Record<string, Json>> = {
  text: TEXT,
  needle: `b${'a'.repeat(300_000)}`,
  marks: '&'.repeat(MEBIBYTE),
  angles: '<>'.repeat(MEBIBYTE / 2),
  lines: '\n'.repeat(MEBIBYTE),
  blanks: ' '.repeat(MEBIBYTE),
  digits: '1'.repeat(MEBIBYTE),
  astral: '😀'.repeat(MEBIBYTE / 4),
  brackets: '['.repeat(MEBIBYTE),
  numbers: Array.from({ length: 150_000 }, (_, at) => (at * 7_919) % 150_001),
  texts: Array.from({ length: 20_000 }, (_, at) => 'a'.repeat(40) + ((at * 7_919) % 20_011)),
  wide: Array.from({ length: 50_000 }, (_, at) => ({ a: at, b: 'x' })),
  members: Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, at])),
  lists: Array.from({ length: 2_000 }, () => Array.from({ length: 60 }, (_, at) => at)),
  huge: 9_007_199_254_740_992,
};

/** Must be refused: the work asked for is more than a request may do. */
const REFUSED: readonly string[] = [
  '{% for i in (1..1000000000) %}{% endfor %}',
  '{% for i in (1..100000) %}{% endfor %}',
  '{% for i in (9007199254740992..9007199254740999) %}{% endfor %}',
  '{% for i in (data.huge..9007199254740999) %}{% endfor %}',
  '{% for i in (data.numbers..data.numbers) %}{% endfor %}',
  '{% for i in ((1..2)..3) %}{% endfor %}',
  '{% for i in (1..99) %}{% for j in (1..99) %}{% for k in (1..99) %}{{ k }}{% endfor %}{% endfor %}{% endfor %}',
  "{% assign a = 'x' %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}{{ a }}",
  '{% assign a = data.numbers %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}{{ a | size }}',
  "{% assign a = 'x' | split: '' %}{% for i in (1..60) %}{% assign a = a | concat: k: a %}{% endfor %}{{ a }}",
  '{% for i in (1..60) %}{% capture a %}{{ a }}{{ a }}x{% endcapture %}{% endfor %}',
  '{% for i in (1..60) %}{% capture a %}{{ a }}{{ data.text }}{% endcapture %}{% endfor %}',
  "{{ data.text | split: '' }}",
  "{{ data.text | split: 'a' }}",
  "{{ data.text | replace: 'a', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb' }}",
  "{{ data.text | replace: '', 'b' }}",
  "{{ data.text | remove: 'a' }}",
  "{{ data.text | replace: data.needle, 'x' }}",
  "{{ data.text | replace_first: data.needle, 'x' }}",
  "{{ data.text | replace_last: data.needle, 'x' }}",
  '{{ data.text | split: data.needle }}',
  '{% if data.text contains data.needle %}{% endif %}',
  '{% if data.texts contains data.digits %}{% endif %}',
  "{{ data.texts | where: '', data.digits }}",
  '{{ data.angles | strip_html }}',
  '{{ data.marks | escape }}',
  '{{ data.marks | escape_once }}',
  '{{ data.lines | newline_to_br }}',
  '{{ data.lines | strip_newlines }}',
  '{{ data.lines | truncatewords: 5 }}',
  '{{ data.blanks | squish }}',
  '{{ data.astral | url_encode }}',
  '{{ data.text | base64_encode | base64_encode }}',
  '{% assign a = data.text %}{% for i in (1..50) %}{% assign a = a | upcase %}{% endfor %}',
  '{{ data.numbers | sort }}',
  '{{ data.texts | sort_natural }}',
  '{{ data.lists | sort }}',
  "{{ data.wide | sort: 'a' }}",
  "{{ data.wide | where: 'a', 5 }}",
  '{{ data.wide | where: data.brackets }}',
  "{{ data.wide | map: 'a' }}",
  '{{ data.numbers | uniq }}',
  "{{ data.numbers | join: '--------------------------------' }}",
  "{{ data.lists | join: ',' }}",
  "{{ 'x' | pad_left: 1000000000, 'x' }}",
  "{{ 'x' | pad_left: 1048576, 'x' | append: 'y' }}",
  "{{ data | json: '$..[?(@.a == 49999)]' }}",
  "{{ data | json: '$..*..*..*..z' }}",
  "{{ data.wide | json: '$[?($[?(@.a == -1)])]' }}",
  '{{ data.wide | json: data.brackets }}',
  '{{ data }}',
  '{{ data.wide }}{{ data.wide }}',
  '{% tablerow i in (1..100000) cols: 3 %}{% endtablerow %}',
  '{% tablerow i in (1..1000) cols: data.numbers %}{% endtablerow %}',
  '{% tablerow i in (1..1000) cols: 0 %}{% endtablerow %}',
  "{% for i in (1..100000) %}{% cycle 'a', 'b' %}{% endfor %}",
  '{% for i in (1..100000) %}{% increment x %}{% endfor %}',
  '{% for i in (1..1000) %}{% for p in data.members %}{% break %}{% endfor %}{% endfor %}',
  '{% for i in (1..1000) %}{% for p in data.numbers reversed %}{% break %}{% endfor %}{% endfor %}',
  '{% for i in (1..1000) %}{% if data.numbers == data.numbers %}{% endif %}{% endfor %}',
  '{% for i in (1..1000) %}{% if data.numbers < data.numbers %}{% endif %}{% endfor %}',
  '{% for i in (1..1000) %}{% case data.numbers %}{% when data.numbers %}{% endcase %}{% endfor %}',
  '{% for i in (1..999) %}{% if data.digits < 5 %}{% endif %}{% endfor %}',
  '{% for i in (1..999) %}{% if data.blanks == blank %}{% endif %}{% endfor %}',
  "{{ 0 | date: '%1000000000d' }}",
  "{% for i in (1..1000) %}{{ i | date: '%A %B' }}{% endfor %}",
  "{% for i in (1..1000) %}{{ i | date: '%Y', 'Asia/Tokyo' }}{% endfor %}",
  "{% for i in (1..9999) %}{% assign x = i | hmac: 'sha-512', 'k' %}{% endfor %}",
  '{% for i in (1..9999) %}{% assign x = i | alias_preserve_length %}{% endfor %}',
  '{{ data.text | alias_preserve_length }}',
  '{{ data.text | reveal: 2, 2 }}',
  '{% liquid\nfor i in (1..100000)\necho i\nendfor %}',
  `{{ ${'data['.repeat(70)} }}`,
  `{{ ${'('.repeat(380)} }}`,
  '{% if 1 %}'.repeat(39),
  '{{ 2 | times: data.digits }}',
];

/** Harmless however it looks, and done within the budget. */
const DONE: readonly string[] = [
  '{{ data[data.numbers] }}'.replace('numbers', 'huge'),
  '{{ data.text | slice: 0, 1000000000 | size }}',
  '{{ data.text | truncate: 100000 | size }}',
  '{{ data.blanks | strip }}',
  '{{ data.text | last4 }}',
  `{% raw %}${'{{'.repeat(150)}{% endraw %}`,
  `{% comment %}${'{% if %}'.repeat(40)}{% endcomment %}`,
  `{% liquid ${'liquid '.repeat(50)} %}`,
  `{{ 1${' | abs'.repeat(60)} }}`,
];

interface Outcome {
  readonly code: string;
  readonly unitsLeft: number;
}

function outcome(text: string, run = createExpressions().evaluate): Outcome {
  const budget = createBudget();
  try {
    run(text, { data: DATA }, budget);
    return { code: 'done', unitsLeft: budget.unitsLeft() };
  } catch (error) {
    assert.ok(error instanceof AppError, `${text}: ${error}`);
    return { code: error.code, unitsLeft: budget.unitsLeft() };
  }
}

describe('a hostile expression', () => {
  it('400 when it asks for more work than a request may do, counted the same cold and warm', () => {
    const { evaluate: warm } = createExpressions();
    for (const text of REFUSED) {
      assert.ok(text.length <= 400, text);
      const first = outcome(text);
      assert.equal(first.code, 'invalid_expression', text);
      assert.deepEqual(outcome(text, warm), first, text);
      assert.deepEqual(outcome(text, warm), first, text);
    }
  });

  it('is evaluated where it only looks hostile', () => {
    for (const text of DONE) assert.equal(outcome(text).code, 'done', text);
  });

  it('400 for tags that load files, also inside other tags', () => {
    for (const tag of ["include '/etc/passwd'", "render 'x'", "layout 'x'", 'block a']) {
      refusal(() => evaluateText(`{% ${tag} %}`));
      refusal(() => evaluateText(`{% if false %}{% ${tag} %}{% endif %}`));
      refusal(() => evaluateText(`{% liquid ${tag} %}`));
    }
  });

  it('400 for filters that are random, evaluate text, nest lists or know the time', () => {
    const filters = ['sample', "where_exp: 'x', 'x'", "find_exp: 'x', 'x'", "group_by_exp: 'x', 'x'", 'push: data'];
    for (const filter of [...filters, 'unshift: data', 'date_to_string', 'inspect', 'jsonify', 'raw']) {
      refusal(() => evaluateText(`{{ data | ${filter} }}`, [1]));
    }
    for (const word of ['now', 'today']) {
      refusal(() => evaluateText(`{{ '${word}' | date: '%s' }}`));
      refusal(() => evaluateText("{{ data | date: '%s' }}", word));
      refusal(() => evaluateText("{{ data | date: '%s' }}", [word]));
    }
  });

  it('reaches nothing that is inherited, of data, text, lists or loops', () => {
    const names = [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '__defineGetter__',
      'valueOf',
    ];
    for (const name of names) {
      for (const holder of ['data', 'data.list', 'data.text', 'data.n']) {
        const data = { list: [1], text: 'x', n: 1 };
        assert.equal(evaluateText(`{{ ${holder}.${name} }}`, data), undefined, name);
        assert.equal(evaluateText(`{{ ${holder}["${name}"] }}`, data), undefined, name);
        assert.equal(evaluateText(`{{ ${holder} | map: "${name}" | first }}`, data) ?? null, null, name);
      }
      assert.equal(evaluateText(`{{ ${name} }}`), undefined, name);
      const loop = `{% for i in (1..2) %}{{ forloop.${name} }}{{ forloop["${name}"] }}{{ forloop.next }}{% endfor %}`;
      assert.equal(evaluateText(loop), '', name);
    }
    evaluateText('{% assign __proto__ = data %}{% capture constructor %}x{% endcapture %}{% increment __proto__ %}', {
      a: 1,
    });
    evaluateText(
      '{% for i in data __proto__: data %}{% endfor %}{% tablerow i in data __proto__: data %}{% endtablerow %}',
      [1],
    );
    assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
    assert.equal(evaluateText('{{ data.__proto__.x }}', JSON.parse('{"__proto__":{"x":1}}')), 1);
  });

  it('does not have data read as a template or a path of the library', () => {
    const data = { text: '{{ data.secret }}{% include "x" %}', secret: 's' };
    assert.equal(evaluateText('{{ data.text }}', data), data.text);
    assert.equal(evaluateText('{{ data.text }}!', data), `${data.text}!`);
    assert.equal(evaluateText('{% assign x = data.text %}{{ x | append: "" }}', data), data.text);
  });
});
