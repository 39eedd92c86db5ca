import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../kernel/json.js';
import { createBudget } from './budget.js';
import { createExpressions } from './expressions.js';
import { evaluateText, refusal } from './expressions-fixture.js';

const DATA: Json = { number: '4111111111111111', n: 5, yes: true, none: null, list: [3, 1, 2], o: { k: 1 } };

describe('an expression', () => {
  it('alone gives the value with its type', () => {
    assert.equal(evaluateText('{{ data.number }}', DATA), '4111111111111111');
    assert.equal(evaluateText('{{data.n}}', DATA), 5);
    assert.equal(evaluateText('{{ data.yes }}', DATA), true);
    assert.equal(evaluateText('{{ data.none }}', DATA), null);
    assert.equal(evaluateText('{{ nil }}', DATA), null);
    assert.equal(evaluateText('{{ data.absent }}', DATA), undefined);
    assert.equal(evaluateText('{{ absent.member }}', DATA), undefined);
    assert.deepEqual(evaluateText('{{ data.list }}', DATA), [3, 1, 2]);
    assert.deepEqual(evaluateText('{{ data }}', DATA), DATA);
    assert.equal(evaluateText('{{ data.list[1] }}', DATA), 1);
    assert.equal(evaluateText('{{ data.n | plus: 2 }}', DATA), 7);
    assert.deepEqual(evaluateText('{{ data.list | sort }}', DATA), [1, 2, 3]);
  });

  it('with anything around it makes text, objects and lists as JSON text', () => {
    assert.equal(evaluateText('{{ data.n }} ', DATA), '5 ');
    assert.equal(evaluateText('{{ data.n }}{{ data.yes }}', DATA), '5true');
    assert.equal(
      evaluateText('[{{ data.o }}{{ data.list }}{{ data.none }}{{ data.absent }}]', DATA),
      '[{"k":1}[3,1,2]]',
    );
    assert.equal(evaluateText('{% if data.yes %}{{ data.n }}{% endif %}', DATA), '5');
    assert.equal(evaluateText(' {{- data.n -}} ', DATA), '5');
  });

  it('is told from plain text, which stays as it is whatever its length', () => {
    const { isExpression } = createExpressions();
    for (const text of ['', 'plain', '{ data }', '}}', 'x'.repeat(5_000)]) {
      assert.equal(isExpression(text), false);
      assert.equal(evaluateText(text), text);
    }
    for (const text of ['{{', '{%', 'a {{ b']) assert.equal(isExpression(text), true);
  });

  it('has the tags of Liquid', () => {
    const shown: Readonly<Record<string, string>> = {
      '{% assign x = data.n | times: 2 %}{{ x }}': '10',
      '{% capture x %}a{{ data.n }}{% endcapture %}{{ x }}{{ x }}': 'a5a5',
      '{% for i in data.list %}{{ forloop.index }}:{{ i }}{% unless forloop.last %},{% endunless %}{% endfor %}':
        '1:3,2:1,3:2',
      '{% for i in (1..3) reversed %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% endfor %}': '32',
      '{% for i in (1..data.n) limit: 2 offset: 1 %}{% continue %}{% endfor %}x': 'x',
      '{% for p in data.o %}{{ p[0] }}={{ p[1] }}{% endfor %}': 'k=1',
      '{% for i in data.none %}a{% else %}b{% endfor %}': 'b',
      '{% case data.n %}{% when 4 %}a{% when 5, 6 %}b{% else %}c{% endcase %}': 'b',
      '{% increment a %}{% increment a %}{% decrement b %}': '01-1',
      "{% for i in (1..3) %}{% cycle 'a', 'b' %}{% endfor %}": 'aba',
      '{% tablerow i in (1..2) cols: 2 %}{{ i }}{% endtablerow %}':
        '<tr class="row1"><td class="col1">1</td><td class="col2">2</td></tr>',
      '{% raw %}{{ data }}{% endraw %}': '{{ data }}',
      '{% comment %}{{ data }}{% endcomment %}x{% # so %}': 'x',
      '{% liquid\nassign a = 1\necho a | plus: 1\n%}': '2',
      '{% if data.list contains 3 and data.number contains "411" %}y{% endif %}': 'y',
      '{% if data.none == blank and data.list != empty %}y{% endif %}{{ data.list.size }}{{ data.list.first }}': 'y33',
    };
    for (const [text, expected] of Object.entries(shown)) assert.equal(evaluateText(text, DATA), expected, text);
  });

  it('has the standard filters of Liquid', () => {
    const items = [
      { n: 'b', v: 2, on: true },
      { n: 'a', v: 3 },
      { n: 'B', v: 2 },
    ];
    const values: readonly (readonly [string, Json | undefined])[] = [
      ["'-1.5' | abs", 1.5],
      ['7 | divided_by: 2', 3.5],
      ['7 | modulo: 4 | minus: 1 | at_least: 5 | at_most: 9', 5],
      ['1.25 | round: 1', 1.3],
      ['1.2 | ceil', 2],
      ['1.8 | floor', 1],
      ["'aXbX' | append: 'c' | prepend: 'z'", 'zaXbXc'],
      ["'aXbX' | replace: 'X', '-' | replace_first: '-', '+' | replace_last: '-', '*'", 'a+b*'],
      ["'aXbXX' | remove_first: 'X' | remove_last: 'X'", 'abX'],
      ["'aXbX' | remove: 'X' | upcase | downcase | capitalize", 'Ab'],
      ["' a  b ' | squish | strip", 'a b'],
      ["'xxaxx' | lstrip: 'x' | rstrip: 'x'", 'a'],
      ["'a,b,,' | split: ',' | join: '+'", 'a+b'],
      ["'a b c d' | truncatewords: 2", 'a b...'],
      ["'abcdefgh' | truncate: 5", 'ab...'],
      ["'abcdef' | slice: 1, 2", 'bc'],
      ["'abcdef' | slice: -2, 2", 'ef'],
      ["'<b>&' | escape | escape_once", '&lt;b&gt;&amp;'],
      ["'<b>x</b>' | strip_html", 'x'],
      ["'a b&' | url_encode | url_decode", 'a b&'],
      ["'ab' | base64_encode | base64_decode", 'ab'],
      ["nil | default: 'd'", 'd'],
      ["false | default: 'd', allow_false: true", false],
      ["'2024-01-15T00:00:00Z' | date: '%Y/%m/%d'", '2024/01/15'],
      ["data | map: 'n' | join", 'b a B'],
      ["data | where: 'v', 2 | size", 2],
      ["data | where: 'on' | size", 1],
      ["data | reject: 'v', 2 | map: 'n' | first", 'a'],
      ["data | find: 'n', 'a' | json: '$.v'", 3],
      ["data | find_index: 'n', 'a'", 1],
      ["data | has: 'n', 'q'", false],
      ["data | sum: 'v'", 7],
      ["data | sort: 'n' | map: 'n' | join: ''", 'Bab'],
      ["data | sort_natural: 'n' | map: 'n' | join: ''", 'abB'],
      ["data | map: 'v' | uniq | reverse | join: ','", '3,2'],
      ["data | map: 'on' | compact | size", 1],
      ['data | concat: data | size', 6],
      ["data | slice: 1, 5 | last | json: '$.n'", 'B'],
    ];
    for (const [text, expected] of values) assert.deepEqual(evaluateText(`{{ ${text} }}`, items), expected, text);
  });

  it('400 for what does not parse, with the place', () => {
    const wrong = [
      '{{',
      '{{ data',
      '{% if %}',
      '{% nope %}',
      '{{ data | nope }}',
      '{{ data | last4',
      '{{ }}',
      '{{ | x }}',
    ];
    for (const text of wrong) refusal(() => evaluateText(text, DATA));
    assert.match(
      refusal(() => evaluateText('abc {{ data | nope }}', DATA)),
      /line 1, column 5/,
    );
  });

  it('400 for more than 400 characters, counted as a person would', () => {
    const at = (length: number, filler: string): string =>
      `{{ data.n }}${filler.repeat(length - '{{ data.n }}'.length)}`;
    assert.equal(typeof evaluateText(at(400, 'x'), DATA), 'string');
    assert.equal(typeof evaluateText(at(400, '😀'), DATA), 'string');
    assert.match(
      refusal(() => evaluateText(at(401, 'x'), DATA)),
      /400 characters/,
    );
  });

  it('400 without a word of the data, whatever fails', () => {
    const secret = 'sesame-4111';
    const failing = ['to_number', 'to_boolean', 'card_bin', "date: 'x'", "json: '$.['", 'card_exp: "MM"', 'url_decode'];
    for (const filter of failing) {
      const data = filter === 'url_decode' ? `%${secret}` : secret;
      try {
        evaluateText(`{{ data | ${filter} }}`, data);
      } catch (error) {
        assert.ok(error instanceof Error && !String(error.stack).includes(secret), filter);
      }
    }
    refusal(() => evaluateText('{{ data | url_decode }}', `%${secret}`));
  });

  it('leaves what it was given as it was', () => {
    const data = Object.freeze({ list: Object.freeze([3, 1]), n: 1 });
    const variables = { data };
    const { evaluate: run } = createExpressions();
    run('{% increment data %}{% assign data = 5 %}{{ data }}', variables, createBudget());
    run('{{ data.list | sort | reverse | concat: data.list }}', variables, createBudget());
    assert.deepEqual(variables, { data: { list: [3, 1], n: 1 } });
  });

  it('counts results against one bound for the request', () => {
    const { evaluate: run } = createExpressions();
    const budget = createBudget();
    const data = 'é'.repeat(200_000);
    run('{{ data }}', { data }, budget);
    run('{{ data }}', { data: [data] }, budget);
    assert.match(
      refusal(() => run('{{ data }}', { data }, budget)),
      /1048576 bytes/,
    );
    refusal(() => run('{{ data }}', { data: 'x' }, budget));
  });
});
