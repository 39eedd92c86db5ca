import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../kernel/errors.js';
import type { Json } from '../kernel/json.js';
import { createBudget } from './budget.js';
import { createExpressions } from './expressions.js';
import { parseJsonPath } from './json-path.js';
import { findOne } from './json-path-walk.js';
import { createEngine } from './liquid-engine.js';
import { evaluatePlainForm, parsePlainForm } from './plain-form.js';

const WORDS = [
  ...[
    '{{',
    '}}',
    '{%',
    '%}',
    '|',
    ':',
    ',',
    '.',
    '..',
    '(',
    ')',
    '[',
    ']',
    "'",
    '"',
    '-',
    ' ',
    '\n',
    '=',
    '==',
    '1',
    '9',
  ],
  ...[
    'data',
    'data.a',
    'metadata',
    'nil',
    'true',
    'empty',
    'forloop',
    'i',
    'in',
    'and',
    'contains',
    '__proto__',
    'token',
  ],
  ...['if', 'endif', 'for', 'endfor', 'assign', 'capture', 'endcapture', 'case', 'when', 'cycle', 'tablerow', 'raw'],
  ...['liquid', 'echo', 'increment', 'include', 'comment', 'else', 'size', 'first', 'limit', 'cols', 'reversed'],
  ...['last4', 'reveal', 'json', 'append', 'split', 'join', 'sort', 'map', 'where', 'slice', 'date', 'hmac', 'default'],
  ...["'$..a'", "'%Y'", '😀', '\ud800', '\u0000', '\\'],
];
const TEMPLATES = [
  ...[(inner: string) => inner, (inner: string) => `{{ ${inner} }}`, (inner: string) => `{% ${inner} %}`],
  ...[(inner: string) => `{{ data | ${inner} }}`, (inner: string) => `{% for i in data %}${inner}{% endfor %}`],
];
const template = fc
  .tuple(
    fc.constantFrom(...TEMPLATES),
    fc.array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 4 })), { maxLength: 25 }),
  )
  .map(([wrap, words]) => wrap(words.join(' ')));
const scalar = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const data = fc.oneof(
  scalar,
  fc.jsonValue({ maxDepth: 3 }),
  fc.record({ a: fc.jsonValue({ maxDepth: 1 }), b: scalar, expiration_month: scalar, expiration_year: scalar }),
  // What is tested are values of JSON, which the generator makes.
) as fc.Arbitrary<Json>;

const argument = fc.oneof(
  fc.integer({ min: -2, max: 20 }).map(String),
  fc.constantFrom('true', 'false', "'true'", "'X'", '"-"', "''", "'MM/YY'", "'$.a'", "'$..a'", "'sha-256'", "'ab'"),
);
const NAMES = [
  ...[
    'last4',
    'reveal_last',
    'reveal',
    'card_mask',
    'card_bin',
    'card_exp',
    'json',
    'stringify',
    'to_string',
    'to_number',
  ],
  ...['to_boolean', 'pad_left', 'pad_right', 'hmac', 'to_base64', 'to_base16'],
];
const plainExpression = fc
  .tuple(
    fc.constantFrom('data', 'data.a', 'data.b', 'data.a.b', 'none', 'data.size', 'data.first', 'data.length', '_x'),
    fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.array(argument, { maxLength: 3 })), { maxLength: 3 }),
  )
  .map(([path, filters]) => {
    const calls = filters.map(([name, args]) => ` | ${name}${args.length > 0 ? `: ${args.join(', ')}` : ''}`);
    return `{{ ${path}${calls.join('')} }}`;
  });

function outcomeOf(act: () => unknown): unknown {
  try {
    return { value: act() };
  } catch (error) {
    if (error instanceof AppError) return { refused: error.message };
    throw error;
  }
}

describe('expressions, whatever the input', () => {
  it('give JSON or are refused with invalid_expression, never anything else', () => {
    const expressions = createExpressions();
    fc.assert(
      fc.property(template, data, (text, value) => {
        const variables = { data: value, metadata: { a: 'x' } };
        const result = outcomeOf(() => expressions.evaluate(text, variables, createBudget()));
        assert.doesNotThrow(() => JSON.stringify(result));
        outcomeOf(() => expressions.evaluateMask({ a: [text] }, variables, createBudget()));
      }),
      { numRuns: 3_000 },
    );
  });

  it('with tokens name every token before they are evaluated, or are refused', () => {
    const expressions = createExpressions();
    fc.assert(
      fc.property(template, data, (text, value) => {
        outcomeOf(() => {
          const references = expressions.referencesOf(text, createBudget());
          const tokens = new Map(references.map(({ id }) => [id, { id, data: value }]));
          try {
            return expressions.evaluateWithTokens(text, tokens, createBudget());
          } catch (error) {
            assert.ok(error instanceof AppError && !error.message.includes('looked up'), text);
            throw error;
          }
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('mean the same by the short way and by Liquid', () => {
    const engine = createEngine();
    let plain = 0;
    fc.assert(
      fc.property(plainExpression, data, (text, value) => {
        const form = parsePlainForm(text);
        if (form === undefined) return;
        plain += 1;
        const variables = { data: value };
        const byForm = outcomeOf(() => evaluatePlainForm(form, variables, createBudget()));
        const byLiquid = outcomeOf(() => engine.render(engine.parse(text), variables, createBudget()));
        assert.deepEqual(byForm, byLiquid);
      }),
      { numRuns: 3_000 },
    );
    assert.ok(plain > 2_000, 'the form is what was tested');
  });

  it('read a JSONPath or refuse it', () => {
    const parts = [
      '$',
      '.',
      '..',
      '*',
      '[',
      ']',
      '?',
      '(',
      ')',
      '@',
      "'a'",
      'a',
      '0',
      '-1',
      ':',
      ',',
      '==',
      '<',
      '&&',
      '!',
      ' ',
    ];
    const path = fc.array(fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 2 })), { maxLength: 20 });
    fc.assert(
      fc.property(path, data, (words, value) => {
        outcomeOf(() => findOne(value, parseJsonPath(`$${words.join('')}`), createBudget()));
      }),
      { numRuns: 3_000 },
    );
  });
});
