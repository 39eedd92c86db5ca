import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { Compile } from 'typebox/schema';
import { AppError } from '../../kernel/errors.js';
import { messagesOf } from './field-errors.js';
import { createInputReader } from './read-input.js';
import { dateInput, ERROR_MESSAGE, Name, text } from './schema.js';

function messagesFor(schema: TSchema, value: unknown): Record<string, string[]> {
  return messagesOf(schema, Compile(schema).Errors(value)[1]);
}

const Body = Type.Object({
  name: Name,
  note: Type.Optional(text({ minLength: 3, maxLength: 5 })),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  kind: Type.Optional(Type.Enum(['public', 'private'])),
  since: Type.Optional(dateInput({})),
  rules: Type.Optional(Type.Array(Type.Object({ priority: Type.Integer(), flag: Type.Optional(Type.Boolean()) }))),
  settings: Type.Optional(
    Type.Object(
      { mode: Type.Optional(Type.Enum(['a', 'b'], { [ERROR_MESSAGE]: 'must be a or b, in quotes' })) },
      {
        additionalProperties: false,
        [ERROR_MESSAGE]: 'is not a setting; mode is',
      },
    ),
  ),
});

describe('field errors', () => {
  const cases: readonly (readonly [string, unknown, Record<string, string[]>])[] = [
    ['a missing field', {}, { name: ['is required'] }],
    ['a body that is no object', [], { $: ['must be an object'] }],
    ['null', null, { $: ['must be an object'] }],
    ['a wrong type', { name: 1 }, { name: ['must be a string'] }],
    ['an array that is none', { name: 'n', rules: {} }, { rules: ['must be an array'] }],
    ['a fraction', { name: 'n', size: 1.5 }, { size: ['must be an integer'] }],
    ['too small a number', { name: 'n', size: 0 }, { size: ['must be at least 1'] }],
    ['too large a number', { name: 'n', size: 11 }, { size: ['must be at most 10'] }],
    ['too short a text', { name: 'n', note: 'ab' }, { note: ['must be at least 3 characters long'] }],
    ['too long a text', { name: 'n', note: 'abcdef' }, { note: ['must be at most 5 characters long'] }],
    ['NUL in a text', { name: 'n', note: 'a\0b' }, { note: ['must not hold NUL or unpaired surrogates'] }],
    ['a value of no list', { name: 'n', kind: 'x' }, { kind: ['must be one of public, private'] }],
    ['a missing field in an array', { name: 'n', rules: [{}] }, { 'rules[0].priority': ['is required'] }],
    [
      'a wrong field deep in an array',
      { name: 'n', rules: [{ priority: 1 }, { priority: 1, flag: 'x' }] },
      { 'rules[1].flag': ['must be a boolean'] },
    ],
    [
      'a sentence of its own',
      { name: 'n', settings: { mode: true } },
      { 'settings.mode': ['must be a or b, in quotes'] },
    ],
    [
      'several fields nobody knows',
      { name: 'n', settings: { x: 1, y: 2 } },
      { 'settings.x': ['is not a setting; mode is'], 'settings.y': ['is not a setting; mode is'] },
    ],
    [
      'a field nobody knows whose name is a number',
      { name: 'n', settings: { 5: 1 } },
      { 'settings.5': ['is not a setting; mode is'] },
    ],
    [
      'several faults at once',
      { size: 0, kind: 'x' },
      { name: ['is required'], size: ['must be at least 1'], kind: ['must be one of public, private'] },
    ],
  ];
  for (const [what, value, expected] of cases) {
    it(`names ${what} by its path and says what would be right`, () => {
      assert.deepEqual(messagesFor(Body, value), expected);
    });
  }

  for (const count of [7, 8, 9, 30]) {
    it(`names each of ${count} fields nobody knows`, () => {
      const strangers = Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, i]));
      const errors = messagesFor(Body, { name: 'n', settings: strangers });
      assert.deepEqual(
        errors,
        Object.fromEntries(Object.keys(strangers).map((name) => [`settings.${name}`, ['is not a setting; mode is']])),
      );
    });
  }

  it('names a bounded number of fields, however many are wrong', () => {
    const strangers = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`x${i}`, i]));
    const named = Object.keys(messagesFor(Body, { name: 'n', settings: strangers })).length;
    assert.ok(named >= 50 && named <= 100, `${named} fields`);
  });

  it('says what a name and a date must be, once each', () => {
    const { name, since } = messagesFor(Body, { name: ' ', since: 'yesterday' });
    assert.deepEqual(name, ['must not be blank and must not hold NUL or unpaired surrogates']);
    assert.equal(since?.length, 1);
    assert.match(since[0] ?? '', /ISO 8601/);
  });

  it('says nothing of a body that is right', () => {
    assert.deepEqual(messagesFor(Body, { name: 'n', note: 'abc', size: 1, kind: 'public', settings: {} }), {});
  });

  it('undoes the escapes of a pointer, and cuts a field name nobody would read to its end', () => {
    const Open = Type.Object({ a: Type.Object({}, { additionalProperties: false }) });
    assert.deepEqual(Object.keys(messagesFor(Open, { a: { 'x/y~z': 1 } })), ['a.x/y~z']);
    const [path = ''] = Object.keys(messagesFor(Open, { a: { ['x'.repeat(5_000)]: 1 } }));
    assert.ok(path.length < 120, `${path.length} characters`);
  });

  it('names fields called like members of every object', () => {
    const Closed = Type.Object({ a: Type.Optional(Type.String()) }, { additionalProperties: false });
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
      const value: unknown = JSON.parse(`{"${name}":1}`);
      const errors = messagesFor(Closed, value);
      assert.deepEqual(Object.entries(errors), [[name, ['is not known here']]]);
    }
  });

  it('400 that names a field, or the value itself, for any JSON there is; values are never quoted', () => {
    const reader = createInputReader({ body: Body });
    const known = fc.constantFrom('name', 'note', 'size', 'kind', 'since', 'rules', 'settings', '__proto__', 'x');
    const leaf = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('canary', ['canary'], { mode: 'canary' }));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(known, leaf)), (value) => {
        try {
          assert.equal(typeof reader.body(value), 'object');
        } catch (error) {
          assert.ok(error instanceof AppError, String(error));
          assert.equal(error.code, 'validation_failed');
          const messages = Object.values(error.errors ?? {});
          assert.ok(messages.length > 0 && messages.every((list) => list.length > 0));
          assert.ok(!JSON.stringify([error.message, messages]).includes('canary'));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
