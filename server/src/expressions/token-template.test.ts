import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../kernel/json.js';
import { quoted, readPage, rowsUnder } from '../testing/page-tables.js';
import { createBudget } from './budget.js';
import type { TokenView } from './expressions.js';
import { createExpressions } from './expressions.js';
import { refusal } from './expressions-fixture.js';

const { evaluateWithTokens, referencesOf } = createExpressions();
const ODD_IDS = [
  "o'brien",
  'a "b" c',
  'x:y:z',
  'a.b.c',
  'mañana 😀',
  '-_-',
  'nil',
  'true',
  '123',
  'é'.repeat(400),
  '(1..3)',
];

function tokens(data: Json, ...ids: string[]): ReadonlyMap<string, TokenView> {
  return new Map(ids.map((id) => [id, { id, type: 'token', data, metadata: { m: 'v' } }]));
}

function detokenized(text: string, data: Json, ...ids: string[]): Json | undefined {
  return evaluateWithTokens(text, tokens(data, ...ids), createBudget());
}

function named(text: string): readonly string[] {
  return referencesOf(text, createBudget()).map(({ id, isWhole }) => (isWhole ? `token:${id}` : id));
}

describe('tokens in an expression', () => {
  it('are found whatever their ids hold, and give their data with its type', () => {
    for (const id of ODD_IDS) {
      assert.deepEqual(named(`{{ ${id} }}`), [id]);
      assert.deepEqual(named(`{{ ${id} | last4}} and {{ token: ${id} }}`), [id, `token:${id}`]);
      assert.equal(detokenized(`{{ ${id} }}`, 5, id), 5);
      assert.equal(detokenized(`{{ ${id} | reveal_last: 4 }}`, '123456', id), 'XX3456');
      assert.equal(detokenized(`<{{ ${id} }}>`, { k: 1 }, id), '<{"k":1}>');
    }
  });

  it('are named as docs/expressions.md shows it', async () => {
    const rows = rowsUnder(await readPage('docs/expressions.md'), ['Written', 'Stands for']);
    assert.ok(rows.length > 8);
    for (const [written = '', meaning = ''] of rows) {
      const [, whole, id] = /^the (whole token|data of) `(.+?)`(?::|$)/.exec(meaning) ?? [];
      const expected = id === undefined ? [] : [whole === 'whole token' ? `token:${id}` : id];
      assert.deepEqual(named(quoted(written)), expected, written);
      if (id === undefined) assert.match(meaning, /^nothing, 400/);
    }
    assert.ok(refusal(() => detokenized('{{ ab }}', 5, 'ab')));
    assert.equal(detokenized("{{ token: token:7 | json: '$.data' }}", 5, 'token:7'), 5);
    assert.deepEqual(named('{{ abc\u00a0}}'), ['abc'], 'white space at an end is never part of a name');
    assert.equal(detokenized("{% assign name = 'x' %}{% echo name %}", 5), 'x');
    assert.deepEqual(named("{% assign name = 'x' %}{{ name }}"), ['name']);
  });

  it('with token: are the whole token', () => {
    const whole = { id: 'abc', type: 'token', data: 5, metadata: { m: 'v' } };
    assert.deepEqual(detokenized('{{ token: abc }}', 5, 'abc'), whole);
    assert.equal(detokenized("{{ token:abc | json: '$.metadata.m' }}", 5, 'abc'), 'v');
  });

  it('stand among tags, trimming and text that only looks like them', () => {
    assert.equal(detokenized('{% if true %}{{ abc | last4 }}{% endif %}!', '123456', 'abc'), '3456!');
    assert.equal(detokenized('a {{- abc -}} b', 5, 'abc'), 'a5b');
    // A dash that touches the braces trims, as Liquid has it; an id that begins with one needs a space before it.
    assert.deepEqual(named('{{-abc}}{{ -abc }}{{token:-abc}}'), ['abc', '-abc', 'token:-abc']);
    assert.equal(detokenized('{% raw %}{{ xyz }}{% endraw %}{{ abc }}', 5, 'abc'), '{{ xyz }}5');
    assert.deepEqual(named('{% comment %}{{ xyz }}{% endcomment %}{% raw %}{{ b }{% endraw %}{{ abc }}'), ['abc']);
    assert.equal(detokenized("{{ abc | append: '}}' | append: \"'}}\" }}", 'x', 'abc'), "x}}'}}");
    assert.equal(detokenized('{% for i in (1..2) %}{{ i }}{{ abc }}{% endfor %}', 'x', 'abc'), '1x2x');
    assert.equal(detokenized('{ {{abc}} }', 'x', 'abc'), '{ x }');
  });

  it('come with text around of any length; the bound is on what follows each id', () => {
    const text = `${'x'.repeat(100_000)}{{ abc }}`;
    assert.equal(detokenized(text, 'y', 'abc'), `${'x'.repeat(100_000)}y`);
    const id = 'i'.repeat(400);
    assert.equal(detokenized(`{{ ${id} | append: '${'a'.repeat(360)}' }}`, 'y', id), `y${'a'.repeat(360)}`);
    assert.match(
      refusal(() => detokenized(`{{ abc | append: '${'a'.repeat(400)}' }}`, 'y', 'abc')),
      /400 characters/,
    );
  });

  it('never have their data read as an expression', () => {
    const data = "{{ abc | append: 'no' }}{% include 'x' %}";
    assert.equal(detokenized('{{ abc }}', data, 'abc'), data);
    assert.equal(detokenized('{% if true %}{{ abc }}{% endif %}', data, 'abc'), data);
  });

  it('400 for an output that is not closed or cannot be a token', () => {
    const wrong = [
      '{{',
      '{{ abc',
      "{{ abc | append: ' }}",
      '{% raw %}{{ abc }}',
      '{% if',
      '{{ ab }}',
      '{{ }}',
      '{{ a[b] }}',
    ];
    for (const text of wrong) refusal(() => detokenized(text, 5, 'abc'));
    refusal(() => detokenized('{{ unknown }}', 5, 'abc'));
    assert.deepEqual(named('no expression { { } }'), []);
  });

  it('by the ten thousand end by the budget, not by a time limit', () => {
    const text = '{{abc}}'.repeat(150_000);
    const budget = createBudget();
    refusal(() => evaluateWithTokens(text, tokens('x', 'abc'), budget));
    refusal(() => referencesOf('{{abc}}'.repeat(150_000), createBudget()));
    assert.equal(referencesOf('{{abc}}'.repeat(1_000), createBudget()).length, 1_000);
  });
});
