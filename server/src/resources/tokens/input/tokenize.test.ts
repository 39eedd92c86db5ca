import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FieldErrors } from '../../../kernel/errors.js';
import type { Json } from '../../../kernel/json.js';
import { findExpressions, rebuildWith } from '../../../vault/use/find-expressions.js';
import { readTokenizeBody } from './tokenize.js';

const CONTEXT = { path: '', nowMs: Date.UTC(2024, 1, 13) };
const CARD = { type: 'card', data: { number: '4242424242424242' } };

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => value as Json); // JSON by its making.

test('tokens stand where they were asked for, ids where bare values were, in document order', () => {
  const body: Json = {
    name: 'Ada',
    age: 36,
    isAdmin: false,
    none: null,
    cards: [CARD, { deep: ['x', null, []] }],
    empty: {},
  };
  const plan = planOf(body);
  assert.deepEqual(
    plan.tokens.map(({ type, data }) => [type, data]),
    [
      ['token', 'Ada'],
      ['token', 36],
      ['token', false],
      ['card', CARD.data],
      ['token', 'x'],
    ],
  );
  const bodies = plan.tokens.map(({ type }, index) => ({ id: `t${index}`, type }));
  assert.deepEqual(plan.rebuild(bodies), {
    name: 't0',
    age: 't1',
    isAdmin: 't2',
    none: null,
    cards: [{ id: 't3', type: 'card' }, { deep: ['t4', null, []] }],
    empty: {},
  });
});

test('the whole body may be one token, one value, or nothing', () => {
  assert.deepEqual(planOf(CARD).rebuild([{ id: 'a', type: 'card' }]), { id: 'a', type: 'card' });
  assert.equal(planOf('text').rebuild([{ id: 'a' }]), 'a');
  for (const body of [null, {}, [], [[null]]]) assert.deepEqual(planOf(body).rebuild([]), body);
});

test('all fields of a request are honoured', () => {
  const [token] = planOf([{ ...CARD, id: 'abc', metadata: { a: 'b' }, containers: ['/X/'] }]).tokens;
  assert.deepEqual([token?.id, token?.metadata, token?.containers], ['abc', { a: 'b' }, ['/x/']]);
});

test('only a string type next to a data member makes a request; otherwise the members are walked', () => {
  const lookalikes: readonly Json[] = [{ type: 'card' }, { type: 1, data: 2 }, { data: 3 }, { type: null, data: 4 }];
  assert.deepEqual(
    planOf(lookalikes).tokens.map(({ data }) => data),
    ['card', 1, 2, 3, 4],
  );
  assert.deepEqual(
    Object.keys(
      faultsOf([
        { type: 'card', data: null },
        { type: 'visa', data: 1 },
      ]),
    ),
    ['[0].data', '[1].type'],
  );
});

test('faults are named by their place in the body, all of them', () => {
  const bad = { type: 'card', data: { number: '1' } };
  assert.deepEqual(Object.keys(faultsOf({ people: [{ card: bad }, 2 ** 53], big: 1e300 })), [
    'people[0].card.data.number',
    'people[1]',
    'big',
  ]);
  assert.deepEqual(Object.keys(faultsOf(bad)), ['data.number']);
  assert.deepEqual(Object.keys(faultsOf(2 ** 53)), ['$']);
  assert.deepEqual(Object.keys(faultsOf([[bad]])), ['[0][0].data.number']);
  assert.deepEqual(Object.keys(faultsOf(parsed('{"__proto__":1e300,"constructor":{"data":1e300}}'))), [
    '__proto__',
    'constructor.data',
  ]);
});

test('more tokens than allowed are too many; exactly as many are not', () => {
  const errors: FieldErrors = {};
  assert.equal(readTokenizeBody(['a', 'b', CARD], CONTEXT, errors, 3).isTooMany, false);
  const plan = readTokenizeBody(['a', 'b', [CARD], 1e300], CONTEXT, errors, 3);
  assert.equal(plan.isTooMany, true);
  assert.equal(plan.tokens.length, 3);
  assert.deepEqual(errors, {}, 'what is over the limit is not read');
});

test('a missing or a left-over token body is noticed', () => {
  assert.throws(() => planOf(['a', 'b']).rebuild([{ id: '1' }]), /assertion failed/);
  assert.throws(() => planOf(['a']).rebuild([{ id: '1' }, { id: '2' }]), /assertion failed/);
  assert.throws(() => rebuildWith(['{{ a }}'], []), /assertion failed/);
  assert.throws(() => rebuildWith([], ['x']), /assertion failed/);
});

test('an answer has the shape of the body, whatever that is', () => {
  fc.assert(
    fc.property(json, (body) => {
      const plan = readTokenizeBody(body, CONTEXT, {}, Number.POSITIVE_INFINITY);
      fc.pre(!/"type":"/.test(JSON.stringify(body)));
      const ids = plan.tokens.map(({ data }) => ({ id: data }));
      assert.equal(JSON.stringify(plan.rebuild(ids)), JSON.stringify(body));
    }),
  );
});

test('members named like those every object has survive in the answer', () => {
  const body = parsed('{"__proto__":"a","b":{"__proto__":{"type":"token","data":1}},"constructor":"c"}');
  const answer = planOf(body).rebuild([{ id: '1' }, { id: '2' }, { id: '3' }]);
  assert.equal(JSON.stringify(answer), '{"__proto__":"1","b":{"__proto__":{"id":"2"}},"constructor":"3"}');
});

test('expressions are found with their paths, and their values of any kind take their places', () => {
  const body: Json = {
    a: '{{ t1 }}',
    plain: 'no { expression }',
    '{{ key }}': 1,
    list: ['x {{ t2 }} y', '{% if t3 %}1{% endif %}', null],
  };
  assert.deepEqual(findExpressions(body), [
    { path: 'a', text: '{{ t1 }}' },
    { path: 'list[0]', text: 'x {{ t2 }} y' },
    { path: 'list[1]', text: '{% if t3 %}1{% endif %}' },
  ]);
  assert.deepEqual(rebuildWith(body, [{ text: '{{ not again }}' }, null, false]), {
    a: { text: '{{ not again }}' },
    plain: 'no { expression }',
    '{{ key }}': 1,
    list: [null, false, null],
  });
  assert.deepEqual(findExpressions('{{ t }}'), [{ path: '$', text: '{{ t }}' }]);
  assert.equal(rebuildWith('{{ t }}', [7]), 7);
});

test('a body goes through detokenizing unchanged when every expression stands for itself', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.string().map((text) => `{{ ${text} }}`),
  );
  const bodies = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      texts,
      fc.constant(null),
      fc.dictionary(fc.string(), tie('value')),
      fc.array(tie('value')),
    ),
  })).value;
  fc.assert(
    fc.property(bodies, (made) => {
      const body = parsed(JSON.stringify(made));
      const values = findExpressions(body).map(({ text }) => text);
      assert.equal(JSON.stringify(rebuildWith(body, values)), JSON.stringify(body));
    }),
  );
});

function parsed(text: string): Json {
  return JSON.parse(text) as Json; // Parsed, therefore JSON.
}

function planOf(body: Json) {
  const errors: FieldErrors = {};
  const plan = readTokenizeBody(body, CONTEXT, errors, 100);
  assert.deepEqual(errors, {});
  return plan;
}

function faultsOf(body: Json): FieldErrors {
  const errors: FieldErrors = {};
  readTokenizeBody(body, CONTEXT, errors, 100);
  return errors;
}
